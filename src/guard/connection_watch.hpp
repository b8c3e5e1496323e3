// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>

#include "guard/record.hpp"
#include "walguard/sqlite_api.hpp"

namespace walguard::guard {

// Registers an SQL function on the connection whose destructor tells that the connection is closed
// (for a zombie: that its files are). One a connection; holding it again gives the same watch.
// The name has this copy's address in it, so that two walguards in one process do not replace each
// other's. The caller holds the connection's mutex. Returns nullptr and SQLite's code on failure.
[[nodiscard]] std::shared_ptr<ConnectionWatch> watch_connection(const SqliteApi& sqlite,
                                                                sqlite3* db, int& sqlite_code);

// Goes up whenever a connection closes that still has guards: nothing need be searched otherwise.
[[nodiscard]] std::uint64_t closed_while_guarded() noexcept;

}  // namespace walguard::guard
