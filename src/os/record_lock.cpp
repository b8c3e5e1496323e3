// SPDX-License-Identifier: MIT
#include "os/record_lock.hpp"

#include <cerrno>

#include "os/ofd_commands.hpp"
#include "os/syscalls.hpp"

namespace walguard::os {
namespace {

struct flock describe(short type, ByteRange range) noexcept {
  struct flock lock {};  // l_pid must be 0 for the OFD commands
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(range.offset);
  lock.l_len = static_cast<off_t>(range.length);
  return lock;
}

int set_lock(int fd, int command, short type, ByteRange range) noexcept {
  struct flock lock = describe(type, range);
  if (sys().fcntl_lock(fd, command, &lock) == 0) return 0;
  return errno == EACCES ? EAGAIN : errno;
}

}  // namespace

int ofd_read_lock(int fd, ByteRange range) noexcept {
  return set_lock(fd, kOfdSetLock, F_RDLCK, range);
}

int ofd_unlock(int fd, ByteRange range) noexcept {
  return set_lock(fd, kOfdSetLock, F_UNLCK, range);
}

int posix_read_lock(int fd, ByteRange range) noexcept {
  return set_lock(fd, F_SETLK, F_RDLCK, range);
}

int conflict_with(int fd, Asked asked, ByteRange range, Conflict& out) noexcept {
  struct flock lock = describe(asked == Asked::write_lock ? F_WRLCK : F_RDLCK, range);
  if (sys().fcntl_lock(fd, kOfdGetLock, &lock) != 0) return errno;
  out.found = lock.l_type != F_UNLCK;
  out.write = lock.l_type == F_WRLCK;
  out.pid = out.found ? static_cast<std::int64_t>(lock.l_pid) : -1;
  return 0;
}

}  // namespace walguard::os
