// SPDX-License-Identifier: MIT
// Takes its locks and never gives them back: a parked descriptor keeps them for ever.
#include "guard/lock_ranges.hpp"
#include "os/record_lock.hpp"
#include "sqlite_format/lock_bytes.hpp"

namespace walguard::guard {

int lock_ranges(int db, int shm, ByteRange& refused) noexcept {
  refused = sqlite_format::kShared;
  if (const int error = os::ofd_read_lock(db, refused); error != 0) return error;
  refused = sqlite_format::kDeadmanSwitch;
  return os::ofd_read_lock(shm, refused);
}
void unlock_ranges(int, int) noexcept {}

}  // namespace walguard::guard
