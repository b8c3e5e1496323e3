// SPDX-License-Identifier: MIT
#pragma once

#include "guard/record.hpp"

namespace walguard::guard {

// Takes SQLite's own read locks (SHARED on the database, the deadman switch on -shm) again where a
// stray close has cancelled them. Runs on the caller's thread, which shares SQLite's descriptor
// table: a lock that the keeper took would be the keeper's.
//
// Only while our own OFD locks are held on those bytes (record.armed): then SQLite can hold no
// write lock there, which a read lock would downgrade, and cannot be in rollback mode, where a
// read lock would keep foreign writers out. Read locks only, on SQLite's own descriptor numbers,
// which the caller has verified.
struct Healed {
  bool any = false;  // a lock had been lost and is back
  int error = 0;     // errno of a refused lock
};
[[nodiscard]] Healed heal(const Record& record, std::int64_t own_pid);

}  // namespace walguard::guard
