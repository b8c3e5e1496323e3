// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "guard/record.hpp"
#include "walguard/sqlite_api.hpp"

namespace walguard::guard {

// What is to be guarded, and that it makes sense.
struct Target {
  std::string db_path;                     // canonical, as SQLite builds the sidecars' names on it
  const void* shm_address = nullptr;       // where SQLite has mapped -shm, when it told
  std::shared_ptr<ConnectionWatch> watch;  // empty by path
};

// Asks the connection: file, VFS, modes; one trivial read, so that it has mapped its -shm (a guard
// that is taken earlier makes SQLite trust a stale one). `guarded` tells whether the file at a path
// has a guard here already; then the modes are known. Throws Error.
[[nodiscard]] Target target_of(const SqliteApi& sqlite, sqlite3* db, std::string_view schema,
                               const std::function<bool(const std::string& path)>& guarded);

// Resolves symlinks as SQLite does. Throws Error.
[[nodiscard]] Target target_of(std::string_view path);

}  // namespace walguard::guard
