// SPDX-License-Identifier: MIT
// Takes every connection for one that can be guarded: asks for no mode, reads nothing.
#include "guard/connection_watch.hpp"
#include "guard/target.hpp"

namespace walguard::guard {

Target target_of(const SqliteApi& sqlite, sqlite3* db, std::string_view schema,
                 const std::function<bool(const std::string&)>&) {
  Target target;
  if (db == nullptr || sqlite.db_filename == nullptr) return target;
  const char* file = sqlite.db_filename(db, std::string(schema).c_str());
  target.db_path = file != nullptr ? file : "";
  int code = 0;
  target.watch = watch_connection(sqlite, db, code);
  return target;
}
Target target_of(std::string_view path) {
  Target target;
  target.db_path = path;
  return target;
}

}  // namespace walguard::guard
