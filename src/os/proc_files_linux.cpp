// SPDX-License-Identifier: MIT
#include "os/proc_files.hpp"

#include <limits.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <utility>

#include "os/proc_reader.hpp"
#include "os/proc_text.hpp"

namespace walguard::os {
namespace {

// The kernel's struct linux_dirent64, which no header of libc has: u64 d_ino, s64 d_off,
// u16 d_reclen, u8 d_type, d_name[].
constexpr std::size_t kRecordLengthAt = 16;
constexpr std::size_t kNameAt = 19;

// Takes one record off the front of what getdents gave. False when it does not fit in there.
bool take_record(std::string_view& records, std::string_view& name) {
  if (records.size() <= kNameAt) return false;
  std::uint16_t length = 0;
  std::memcpy(&length, records.data() + kRecordLengthAt, sizeof length);
  if (length <= kNameAt || length > records.size()) return false;
  name = records.substr(kNameAt, length - kNameAt);
  name = name.substr(0, name.find('\0'));
  records.remove_prefix(length);
  return true;
}

// True for a whole decimal number; "." and ".." are none.
bool parse_descriptor(std::string_view name, int& fd) {
  return take_number(name, fd, 10) && name.empty() && fd >= 0;
}

}  // namespace

int visit_own_descriptors(const std::function<bool(int fd)>& visit) {
  const OwnProcFile listing("fd", O_DIRECTORY);
  if (listing.error() != 0) return listing.error();
  // The kernel's position in this directory is a descriptor number, so whatever is opened or closed
  // between two calls, a descriptor that stays open is seen exactly once.
  char buffer[4096];
  for (;;) {
    const long size =
        result_or_errno([&] { return sys().getdents(listing.fd(), buffer, sizeof buffer); });
    if (size <= 0) return static_cast<int>(-size);
    std::string_view records(buffer, static_cast<std::size_t>(size));
    while (!records.empty()) {
      std::string_view name;
      if (!take_record(records, name)) return EIO;
      int fd = -1;
      if (!parse_descriptor(name, fd) || fd == listing.fd()) continue;
      if (!visit(fd)) return 0;
    }
  }
}

std::string descriptor_path(int fd) {
  char name[32];
  std::snprintf(name, sizeof name, "fd/%d", fd);
  char target[PATH_MAX];
  const auto read_link = [&target](const char* path) {
    return sys().readlink(path, target, sizeof target);
  };
  const long size = on_own_proc(name, read_link);
  // A full buffer may be a truncated path. The kernel gives no longer ones (ENAMETOOLONG).
  if (size <= 0 || static_cast<std::size_t>(size) >= sizeof target) return {};
  return {target, static_cast<std::size_t>(size)};
}

int descriptor_locks(int fd, std::vector<DescriptorLock>& out) {
  char name[32];
  std::snprintf(name, sizeof name, "fdinfo/%d", fd);
  std::vector<DescriptorLock> found;
  const int error = for_each_line(name, [&found](std::string_view line) {
    DescriptorLock lock;
    if (parse_lock_line(line, lock)) found.push_back(lock);
    return true;
  });
  if (error == 0) out = std::move(found);
  return error;
}

}  // namespace walguard::os
