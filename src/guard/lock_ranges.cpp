// SPDX-License-Identifier: MIT
#include "guard/lock_ranges.hpp"

#include "os/record_lock.hpp"
#include "sqlite_format/lock_bytes.hpp"

namespace walguard::guard {

int lock_ranges(int db, int shm, ByteRange& refused) noexcept {
  refused = sqlite_format::kShared;
  if (const int error = os::ofd_read_lock(db, refused); error != 0) return error;
  refused = sqlite_format::kDeadmanSwitch;
  const int error = os::ofd_read_lock(shm, refused);
  if (error != 0) (void)os::ofd_unlock(db, sqlite_format::kShared);
  return error;
}

void unlock_ranges(int db, int shm) noexcept {
  if (shm >= 0) (void)os::ofd_unlock(shm, sqlite_format::kDeadmanSwitch);
  if (db >= 0) (void)os::ofd_unlock(db, sqlite_format::kShared);
}

}  // namespace walguard::guard
