// SPDX-License-Identifier: MIT
#include "guard/lock_ranges.hpp"

#include "os/record_lock.hpp"
#include "sqlite_format/lock_bytes.hpp"

namespace walguard::guard {

namespace {

// To give up a part may need memory in the kernel (ENOLCK), to give up all of it never does.
void unlock(int fd, ByteRange range) noexcept {
  if (os::ofd_unlock(fd, range) != 0) (void)os::ofd_unlock(fd, ByteRange{0, 0});
}

}  // namespace

int lock_ranges(int db, int shm, ByteRange& refused) noexcept {
  refused = sqlite_format::kShared;
  if (const int error = os::ofd_read_lock(db, refused); error != 0) return error;
  refused = sqlite_format::kDeadmanSwitch;
  return os::ofd_read_lock(shm, refused);
}

void unlock_ranges(int db, int shm) noexcept {
  if (shm >= 0) unlock(shm, sqlite_format::kDeadmanSwitch);
  if (db >= 0) unlock(db, sqlite_format::kShared);
}

}  // namespace walguard::guard
