// SPDX-License-Identifier: MIT
#include "guard/target.hpp"

#include <sqlite3.h>

#include <cerrno>
#include <climits>
#include <cstring>

#include "guard/connection_watch.hpp"
#include "guard/failure.hpp"
#include "guard/file_look.hpp"
#include "guard/sqlite_files.hpp"
#include "os/record_lock.hpp"
#include "os/syscalls.hpp"
#include "sqlite_format/lock_bytes.hpp"

namespace walguard::guard {
namespace {

constexpr int kShmRegionSize = 32768;  // WALINDEX_PGSZ

class ConnectionLock {
 public:
  ConnectionLock(const SqliteApi& sqlite, sqlite3* db)
      : sqlite_(sqlite), mutex_(sqlite.db_mutex(db)) {
    sqlite_.mutex_enter(mutex_);  // does nothing for the null of a single-threaded SQLite
  }
  ~ConnectionLock() { sqlite_.mutex_leave(mutex_); }
  ConnectionLock(const ConnectionLock&) = delete;
  ConnectionLock& operator=(const ConnectionLock&) = delete;

 private:
  const SqliteApi& sqlite_;
  sqlite3_mutex* mutex_;
};

[[noreturn]] void fail_sqlite(const SqliteApi& sqlite, sqlite3* db, int code, std::string operation,
                              std::string path) {
  const char* message = sqlite.errmsg(db);
  ErrorDetail detail{.operation = std::move(operation),
                     .path = std::move(path),
                     .advice = message != nullptr ? message : "",
                     .range = {},
                     .holder_pid = {}};
  detail.sqlite_code = code;
  throw Error(errc::sqlite_error, std::move(detail));
}

// Another process is closing, recovering or changing the journal mode: it holds a lock that keeps
// even readers out. Whom is asked through SQLite's own descriptor; nothing is opened.
[[noreturn]] void fail_busy(const std::string& path, int code) {
  ErrorDetail detail{.operation = "read",
                     .path = path,
                     .advice = "another process closes the database or changes its journal mode",
                     .range = {},
                     .holder_pid = {}};
  detail.sqlite_code = code;
  SqliteDescriptors own;
  const FileLook look = look_at(path.c_str());
  os::Conflict conflict;
  if (look.error == 0 && find_descriptors({look.identity, {}, look.identity}, own) == 0 &&
      own.db >= 0 &&
      os::conflict_with(own.db, os::Asked::read_lock, sqlite_format::kShared, conflict) == 0 &&
      conflict.found) {
    detail.range = sqlite_format::kShared;
    if (conflict.pid > 0) detail.holder_pid = conflict.pid;
  }
  throw Error(errc::lock_busy, std::move(detail));
}

bool complete(const SqliteApi& sqlite) noexcept {
  return sqlite.size >= sizeof(SqliteApi) && sqlite.extended_errcode && sqlite.errmsg &&
         sqlite.db_filename && sqlite.uri_parameter && sqlite.file_control && sqlite.prepare_v2 &&
         sqlite.step && sqlite.column_text && sqlite.finalize && sqlite.create_function_v2 &&
         sqlite.db_mutex && sqlite.mutex_enter && sqlite.mutex_leave && sqlite.free;
}

std::string quoted(std::string_view identifier) {
  std::string text = "\"";
  for (const char c : identifier) {
    if (c == '"') text += '"';
    text += c;
  }
  return text += '"';
}

// The first column of `PRAGMA schema.name`.
std::string pragma(const SqliteApi& sqlite, sqlite3* db, const std::string& quoted_schema,
                   const char* name, const std::string& path) {
  const std::string sql = "PRAGMA " + quoted_schema + "." + name;
  sqlite3_stmt* statement = nullptr;
  int code = sqlite.prepare_v2(db, sql.c_str(), -1, &statement, nullptr);
  std::string value;
  if (code == SQLITE_OK) {
    code = sqlite.step(statement);
    if (code == SQLITE_ROW) {
      const auto* text = reinterpret_cast<const char*>(sqlite.column_text(statement, 0));
      if (text != nullptr) value = text;
    }
  }
  const int finalized = sqlite.finalize(statement);
  if ((code & 0xff) == SQLITE_BUSY) fail_busy(path, sqlite.extended_errcode(db));
  if (code != SQLITE_ROW && code != SQLITE_DONE) {
    fail_sqlite(sqlite, db, finalized != SQLITE_OK ? finalized : code, sql, path);
  }
  return value;
}

bool is_true(const char* text) noexcept {
  return text != nullptr && std::strcmp(text, "0") != 0 && std::strcmp(text, "no") != 0 &&
         std::strcmp(text, "off") != 0 && std::strcmp(text, "false") != 0;
}

// Shims prefix their own name: "walguard/unix". What locks is the last one.
void refuse_other_protocols(const SqliteApi& sqlite, sqlite3* db, const std::string& schema,
                            const std::string& path) {
  char* text = nullptr;
  if (sqlite.file_control(db, schema.c_str(), SQLITE_FCNTL_VFSNAME, &text) != SQLITE_OK) return;
  std::string name = text != nullptr ? text : "";
  sqlite.free(text);
  if (const auto slash = name.rfind('/'); slash != std::string::npos) name.erase(0, slash + 1);
  for (const char* other : {"unix-none", "unix-dotfile", "unix-flock", "unix-namedsem", "unix-excl",
                            "unix-afp", "unix-nfs"}) {
    if (name == other) {
      fail(errc::vfs_without_posix_locks, "hold", path,
           "opened through the VFS '" + name + "', whose locks this guard cannot hold");
    }
  }
}

const void* mapped_at(const SqliteApi& sqlite, sqlite3* db, const std::string& schema) {
  sqlite3_file* file = nullptr;
  if (sqlite.file_control(db, schema.c_str(), SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK ||
      file == nullptr || file->pMethods == nullptr || file->pMethods->iVersion < 2 ||
      file->pMethods->xShmMap == nullptr) {
    return nullptr;
  }
  // Does not extend: answers where region 0 is, since the connection has just read through it.
  void volatile* address = nullptr;
  const int code = file->pMethods->xShmMap(file, 0, kShmRegionSize, 0, &address);
  return code == SQLITE_OK || code == SQLITE_READONLY ? const_cast<const void*>(address) : nullptr;
}

}  // namespace

Target target_of(const SqliteApi& sqlite, sqlite3* db, std::string_view schema_view,
                 const std::function<bool(const std::string& path)>& guarded) {
  if (!complete(sqlite) || db == nullptr || schema_view.empty()) {
    fail(errc::invalid_argument, "hold", {}, "a connection, a schema and a full table of routines");
  }
  const std::string schema(schema_view);
  const std::string name = quoted(schema);
  const ConnectionLock lock(sqlite, db);

  const char* file = sqlite.db_filename(db, schema.c_str());
  if (file == nullptr) fail(errc::no_such_schema, "hold", {}, "schema '" + schema + "'");
  if (*file == '\0') fail(errc::no_database_file, "hold", {}, "schema '" + schema + "'");
  Target target;
  target.db_path = file;
  if (is_true(sqlite.uri_parameter(file, "immutable"))) {
    fail(errc::immutable_database, "hold", target.db_path);
  }
  if (is_true(sqlite.uri_parameter(file, "nolock"))) {
    fail(errc::vfs_without_posix_locks, "hold", target.db_path, "opened with nolock=1");
  }
  refuse_other_protocols(sqlite, db, schema, target.db_path);
  int moved = 0;
  if (sqlite.file_control(db, schema.c_str(), SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK &&
      moved != 0) {
    fail(errc::database_moved, "hold", target.db_path,
         "the file was renamed, unlinked or replaced after it was opened");
  }
  // A file that is guarded already is in WAL mode, and nobody can get EXCLUSIVE on it. The read is
  // needed all the same: this connection may be the one that keeps -shm mapped later.
  const bool known = guarded(target.db_path);
  // Before the read: under locking_mode=EXCLUSIVE that would take the lock for good.
  if (!known && pragma(sqlite, db, name, "locking_mode", target.db_path) == "exclusive") {
    fail(errc::exclusive_locking_mode, "hold", target.db_path);
  }
  (void)pragma(sqlite, db, name, "schema_version", target.db_path);
  if (!known) {
    if (const std::string mode = pragma(sqlite, db, name, "journal_mode", target.db_path);
        mode != "wal") {
      fail(errc::not_wal, "hold", target.db_path, "journal_mode is '" + mode + "'");
    }
    target.shm_address = mapped_at(sqlite, db, schema);
  }

  int code = SQLITE_OK;
  target.watch = watch_connection(sqlite, db, code);
  if (target.watch == nullptr) {
    fail_sqlite(sqlite, db, code, "sqlite3_create_function_v2", target.db_path);
  }
  return target;
}

Target target_of(std::string_view path_view) {
  const std::string path(path_view);
  if (path.empty() || path.find('\0') != std::string::npos) {
    fail(errc::invalid_argument, "hold_path", path, "a path without NUL bytes");
  }
  char resolved[PATH_MAX];
  if (os::sys().realpath(path.c_str(), resolved) == nullptr) {
    fail(errno == ENOENT ? errc::not_open_here : errc::io_error, "resolve", path, {}, errno);
  }
  Target target;
  target.db_path = resolved;
  return target;
}

}  // namespace walguard::guard
