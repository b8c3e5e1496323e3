// SPDX-License-Identifier: MIT
#include "os/mount_kind.hpp"

#include <cerrno>
#include <cstddef>

#include "os/proc_reader.hpp"

namespace walguard::os {

int mount_of(std::string_view path, Mount& out) {
  if (!path.starts_with('/')) return EINVAL;
  // The whole text and not line by line: a dropped line could be the one that counts, and an
  // overlay's options have no bound.
  std::string text;
  {
    const OwnProcFile file("mountinfo");
    if (file.error() != 0) return file.error();
    char chunk[4096];
    for (;;) {
      const long size = file.read(chunk, sizeof chunk);
      if (size < 0) return static_cast<int>(-size);
      if (size == 0) break;
      text.append(chunk, static_cast<std::size_t>(size));
    }
  }
  // Nothing fits in a chroot whose root is no mount point.
  return find_mount(text, path, out) ? 0 : ENOENT;
}

}  // namespace walguard::os
