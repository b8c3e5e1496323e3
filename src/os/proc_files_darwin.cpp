// SPDX-License-Identifier: MIT
#include "os/proc_files.hpp"

#include <fcntl.h>
#include <libproc.h>
#include <sys/param.h>
#include <sys/proc_info.h>

#include <cerrno>
#include <cstddef>
#include <memory>
#include <new>

#include "os/syscalls.hpp"

namespace walguard::os {
namespace {

// proc_pidinfo says 0 for an error and for no descriptor at all: errno tells them apart.
int list_descriptors(proc_fdinfo* out, int bytes, int& used) noexcept {
  errno = 0;
  used = ::proc_pidinfo(sys().getpid(), PROC_PIDLISTFDS, 0, out, bytes);
  return used <= 0 ? errno : 0;
}

}  // namespace

// A snapshot, taken without opening anything: a number that was closed since fails in fstat, and a
// descriptor that stays open is in it.
int visit_own_descriptors(const std::function<bool(int fd)>& visit) {
  constexpr int kEntry = sizeof(proc_fdinfo);
  constexpr int kMargin = 32;  // what other threads may open between the two calls
  int used = 0;
  if (const int error = list_descriptors(nullptr, 0, used); error != 0) return error;
  for (int entries = used / kEntry + kMargin;; entries *= 2) {
    // Callers are noexcept: want of memory is an errno.
    const std::unique_ptr<proc_fdinfo[]> list(new (std::nothrow)
                                                  proc_fdinfo[static_cast<std::size_t>(entries)]);
    if (list == nullptr) return ENOMEM;
    if (const int error = list_descriptors(list.get(), entries * kEntry, used); error != 0) {
      return error;
    }
    if (used / kEntry >= entries) continue;  // full: there may be more
    for (int i = 0; i < used / kEntry; ++i) {
      if (!visit(list[static_cast<std::size_t>(i)].proc_fd)) return 0;
    }
    return 0;
  }
}

std::string descriptor_path(int fd) {
  char path[MAXPATHLEN] = {};
  if (::fcntl(fd, F_GETPATH, path) != 0) return {};
  return path;
}

// No call tells through which description a lock was taken.
int descriptor_locks(int, std::vector<DescriptorLock>&) { return ENOTSUP; }

}  // namespace walguard::os
