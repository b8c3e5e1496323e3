// SPDX-License-Identifier: MIT
// Never learns that a connection was closed.
#include "guard/connection_watch.hpp"

namespace walguard::guard {

std::shared_ptr<ConnectionWatch> watch_connection(const SqliteApi&, sqlite3*, int& sqlite_code) {
  sqlite_code = 0;
  return std::make_shared<ConnectionWatch>();
}
std::uint64_t closed_while_guarded() noexcept { return 0; }

}  // namespace walguard::guard
