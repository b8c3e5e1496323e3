// SPDX-License-Identifier: MIT
// The deadman switch alone: a last close gets EXCLUSIVE on the database and unlinks the sidecars.
#include "guard/lock_ranges.hpp"
#include "os/record_lock.hpp"
#include "sqlite_format/lock_bytes.hpp"

namespace walguard::guard {

int lock_ranges(int, int shm, ByteRange& refused) noexcept {
  refused = sqlite_format::kDeadmanSwitch;
  return os::ofd_read_lock(shm, refused);
}
void unlock_ranges(int, int shm) noexcept {
  if (shm >= 0) (void)os::ofd_unlock(shm, sqlite_format::kDeadmanSwitch);
}

}  // namespace walguard::guard
