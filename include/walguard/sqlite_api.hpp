// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

struct sqlite3;
struct sqlite3_stmt;
struct sqlite3_mutex;
struct sqlite3_context;
struct sqlite3_value;

namespace walguard {

// The host's SQLite as a table of routines. libwalguard neither links nor loads a SQLite: a second
// copy of SQLite in a process is one of the faults it guards against. Programs that compile against
// sqlite3.h get the table from <walguard/host_sqlite.hpp>; a plug-in that was handed routines fills
// it by hand. Plain data; the routines must stay callable while any guard made with them lives.
struct SqliteApi {
  std::uint32_t size = sizeof(SqliteApi);  // lets a later version append members
  int (*libversion_number)() = nullptr;
  int (*open_v2)(const char*, sqlite3**, int, const char*) = nullptr;
  int (*close)(sqlite3*) = nullptr;
  int (*close_v2)(sqlite3*) = nullptr;
  int (*extended_errcode)(sqlite3*) = nullptr;
  const char* (*errmsg)(sqlite3*) = nullptr;
  const char* (*db_filename)(sqlite3*, const char*) = nullptr;
  const char* (*uri_parameter)(const char*, const char*) = nullptr;
  int (*file_control)(sqlite3*, const char*, int, void*) = nullptr;
  int (*prepare_v2)(sqlite3*, const char*, int, sqlite3_stmt**, const char**) = nullptr;
  int (*step)(sqlite3_stmt*) = nullptr;
  const unsigned char* (*column_text)(sqlite3_stmt*, int) = nullptr;
  int (*finalize)(sqlite3_stmt*) = nullptr;
  sqlite3_stmt* (*next_stmt)(sqlite3*, sqlite3_stmt*) = nullptr;
  int (*wal_checkpoint_v2)(sqlite3*, const char*, int, int*, int*) = nullptr;
  int (*db_config)(sqlite3*, int, ...) = nullptr;
  int (*busy_timeout)(sqlite3*, int) = nullptr;
  int (*create_function_v2)(sqlite3*, const char*, int, int, void*,
                            void (*)(sqlite3_context*, int, sqlite3_value**),
                            void (*)(sqlite3_context*, int, sqlite3_value**),
                            void (*)(sqlite3_context*), void (*)(void*)) = nullptr;
  sqlite3_mutex* (*db_mutex)(sqlite3*) = nullptr;
  void (*mutex_enter)(sqlite3_mutex*) = nullptr;
  void (*mutex_leave)(sqlite3_mutex*) = nullptr;
  void (*free)(void*) = nullptr;
};

}  // namespace walguard
