// SPDX-License-Identifier: MIT
#pragma once

#include <sqlite3.h>

#include <string>

namespace walguard::repro {

// The routines that an actor uses, as a table, because one process of a scenario may run two copies
// of SQLite: the one that the program is linked with, and one that it loads as a plug-in would.
#define WALGUARD_REPRO_SQLITE_ROUTINES(X) \
  X(libversion)                           \
  X(open_v2)                              \
  X(close)                                \
  X(close_v2)                             \
  X(prepare_v2)                           \
  X(step)                                 \
  X(finalize)                             \
  X(next_stmt)                            \
  X(column_count)                         \
  X(column_text)                          \
  X(errmsg)                               \
  X(extended_result_codes)                \
  X(extended_errcode)                     \
  X(busy_timeout)                         \
  X(update_hook)                          \
  X(rollback_hook)                        \
  X(progress_handler)                     \
  X(get_autocommit)                       \
  X(txn_state)                            \
  X(wal_checkpoint_v2)                    \
  X(db_filename)

struct SqliteRoutines {
#define WALGUARD_REPRO_MEMBER(name) decltype(&sqlite3_##name) name = nullptr;
  WALGUARD_REPRO_SQLITE_ROUTINES(WALGUARD_REPRO_MEMBER)
#undef WALGUARD_REPRO_MEMBER
};

// The copy that the program is linked with.
[[nodiscard]] const SqliteRoutines& linked_sqlite();

// Loads a second copy of SQLite, once; a later call returns the same one. `how`:
//   copied   a private copy of the shared library's file, with its own symbols first
//   dlmopen  the same library in a namespace of its own
//   system   the system's library as it is: a second copy where the program has a static one
// Throws std::runtime_error.
const SqliteRoutines& load_second_sqlite(const std::string& how);
// nullptr before it is loaded.
[[nodiscard]] const SqliteRoutines* second_sqlite();

}  // namespace walguard::repro
