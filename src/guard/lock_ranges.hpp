// SPDX-License-Identifier: MIT
#pragma once

#include "walguard/error.hpp"

namespace walguard::guard {

// Takes the guard's two OFD read locks on private descriptors: SQLite's SHARED range on the
// database, which the unlink of the sidecars at a last close needs for writing, and the deadman
// switch on -shm, whose absence makes an opener truncate it. Both are needed. Taking one again is
// harmless. Returns 0, or an errno and the range that was refused (EAGAIN: somebody excludes us);
// what was held before is still held, and the caller gives back what must not be held alone.
[[nodiscard]] int lock_ranges(int db, int shm, ByteRange& refused) noexcept;
// Gives them back; -1 for a descriptor that is not there.
void unlock_ranges(int db, int shm) noexcept;

}  // namespace walguard::guard
