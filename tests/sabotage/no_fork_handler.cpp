// SPDX-License-Identifier: MIT
// Descriptors in the process's table that a forked child keeps: its copy of the description holds
// the lock beyond the parent's death.
#include "os/syscalls.hpp"
#include "os/tracked_descriptors.hpp"

namespace walguard::os {

int open_tracked(const char* path, int flags, struct stat& info) noexcept {
  const int fd = sys().open(path, flags, 0);
  if (fd >= 0 && sys().fstat(fd, &info) != 0) return -1;
  return fd;
}
void close_tracked(int fd) noexcept { sys().close(fd); }
bool is_tracked(int) noexcept { return false; }

}  // namespace walguard::os
