// SPDX-License-Identifier: MIT
#pragma once

#include <sqlite3.h>

#include <walguard/events.hpp>
#include <walguard/guarded_connection.hpp>
#include <walguard/sqlite_api.hpp>
#include <walguard/wal_guard.hpp>

namespace walguard {

// The routines of the SQLite that the *including* source file is linked with. `static` on purpose:
// with external linkage the dynamic linker would merge the copies of several shared objects, and a
// plug-in with a SQLite of its own would be given the application's.
[[nodiscard]] static inline const SqliteApi& host_sqlite() {
  static const SqliteApi api = [] {
    SqliteApi table;
    table.libversion_number = sqlite3_libversion_number;
    table.open_v2 = sqlite3_open_v2;
    table.close = sqlite3_close;
    table.close_v2 = sqlite3_close_v2;
    table.extended_errcode = sqlite3_extended_errcode;
    table.errmsg = sqlite3_errmsg;
    table.db_filename = sqlite3_db_filename;
    table.uri_parameter = sqlite3_uri_parameter;
    table.file_control = sqlite3_file_control;
    table.prepare_v2 = sqlite3_prepare_v2;
    table.step = sqlite3_step;
    table.column_text = sqlite3_column_text;
    table.finalize = sqlite3_finalize;
    table.next_stmt = sqlite3_next_stmt;
    table.wal_checkpoint_v2 = sqlite3_wal_checkpoint_v2;
    table.db_config = sqlite3_db_config;
    table.busy_timeout = sqlite3_busy_timeout;
    table.create_function_v2 = sqlite3_create_function_v2;
    table.db_mutex = sqlite3_db_mutex;
    table.mutex_enter = sqlite3_mutex_enter;
    table.mutex_leave = sqlite3_mutex_leave;
    table.free = sqlite3_free;
    return table;
  }();
  return api;
}

// WalGuard::hold() with the SQLite of the including source file.
[[nodiscard]] static inline WalGuard hold(sqlite3* db, const char* schema = "main",
                                          const HoldOptions& options = {}) {
  return WalGuard::hold(host_sqlite(), db, schema, options);
}

}  // namespace walguard
