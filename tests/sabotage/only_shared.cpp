// SPDX-License-Identifier: MIT
// The SHARED range alone: an opener finds nobody on the deadman switch and cuts -shm.
#include "guard/lock_ranges.hpp"
#include "os/record_lock.hpp"
#include "sqlite_format/lock_bytes.hpp"

namespace walguard::guard {

int lock_ranges(int db, int, ByteRange& refused) noexcept {
  refused = sqlite_format::kShared;
  return os::ofd_read_lock(db, refused);
}
void unlock_ranges(int db, int) noexcept {
  if (db >= 0) (void)os::ofd_unlock(db, sqlite_format::kShared);
}

}  // namespace walguard::guard
