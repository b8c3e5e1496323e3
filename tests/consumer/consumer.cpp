// SPDX-License-Identifier: MIT
// What an application does with walguard: every way to get at the library builds and runs this.
#include <sqlite3.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include <walguard/host_sqlite.hpp>

namespace {

bool check(bool good, const char* what) {
  if (!good) std::fprintf(stderr, "consumer: %s\n", what);
  return good;
}

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

bool guards(sqlite3* db, const std::string& path) {
  const char* setup = "PRAGMA journal_mode=WAL; CREATE TABLE t(x); INSERT INTO t VALUES(1)";
  if (!check(sqlite3_exec(db, setup, nullptr, nullptr, nullptr) == SQLITE_OK, "no WAL database")) {
    return false;
  }
  walguard::WalGuard guard = walguard::hold(db);
  const bool held = check(guard.state() == walguard::GuardState::guarded, "not guarded") &&
                    check(guard.refresh(), "refresh did nothing") &&
                    check(guard.check().intact(), "not intact") &&
                    check(exists(path + "-wal") && exists(path + "-shm"), "no sidecars");
  guard.release();
  return held && check(guard.state() == walguard::GuardState::released, "not released");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string path = argv[1];
  sqlite3* db = nullptr;
  if (!check(sqlite3_open(path.c_str(), &db) == SQLITE_OK, "cannot open")) return 1;
  bool good = false;
  try {
    good = guards(db, path);
  } catch (const walguard::Error& error) {
    check(false, error.what());
  }
  good = check(sqlite3_close(db) == SQLITE_OK, "cannot close") && good;
  good = check(!exists(path + "-wal"), "the last close left the -wal behind") && good;
  return good ? 0 : 1;
}
