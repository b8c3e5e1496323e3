// SPDX-License-Identifier: MIT
// next_visitor DATABASE [STATEMENT...]: opens with the newer SQLite, runs, closes; prints the
// library's version and what the last statement gave.
#include <sqlite3.h>

#include <cstdio>
#include <string>

int main(int argc, char** argv) {
  sqlite3* db = nullptr;
  if (argc < 2 || sqlite3_open(argv[1], &db) != SQLITE_OK) return 2;
  sqlite3_busy_timeout(db, 60000);
  std::string last;
  const auto keep = [](void* out, int, char** values, char**) {
    *static_cast<std::string*>(out) = values[0] != nullptr ? values[0] : "";
    return 0;
  };
  for (int i = 2; i < argc; ++i) {
    if (sqlite3_exec(db, argv[i], keep, &last, nullptr) != SQLITE_OK) return 3;
  }
  if (sqlite3_close(db) != SQLITE_OK) return 4;
  std::printf("%s %s\n", sqlite3_libversion(), last.c_str());
  return 0;
}
