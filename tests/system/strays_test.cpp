// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE strays
#define BOOST_TEST_NO_MAIN
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "processes.hpp"
#include "walguard/host_sqlite.hpp"

namespace {

using namespace walguard;
using namespace walguard::test;

// Ways to close a file that is not one's own.
void stray_by(const std::string& how, const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  BOOST_REQUIRE(fd >= 0);
  if (how == "dup") {
    ::close(::dup(fd));
  } else if (how == "procfd") {
    ::close(::open(("/proc/self/fd/" + std::to_string(fd)).c_str(), O_RDONLY | O_CLOEXEC));
  }
  ::close(fd);
}

// The program under protection: a WAL database with its guard.
struct Program {
  Scratch scratch;
  std::string path = scratch / "app.db";
  sqlite3* db = open_wal(path);
  WalGuard guard = hold(db);
  Pin wal{path + "-wal"};
  Pin shm{path + "-shm"};
  int rows = 1;

  void insert() {
    BOOST_TEST(exec(db, "INSERT INTO t VALUES(" + std::to_string(rows) + ")") == SQLITE_OK);
    ++rows;
  }
  void expect_whole() {
    BOOST_TEST(wal.still_at_path());
    BOOST_TEST(shm.still_at_path());
    struct stat info {};
    BOOST_TEST(::stat((path + "-shm").c_str(), &info) == 0);
    BOOST_TEST(info.st_size >= 32768);
    BOOST_TEST(foreign(path, {"SELECT count(*) FROM t"}) == std::to_string(rows));
    BOOST_TEST(foreign(path, {"PRAGMA integrity_check"}) == "ok");
  }
  // In the right order: then nothing stays, and a fresh process sees every row.
  void close() {
    guard.release();
    BOOST_TEST(sqlite3_close(db) == SQLITE_OK);
    BOOST_TEST(!exists(path + "-wal"));
    BOOST_TEST(!exists(path + "-shm"));
    BOOST_TEST(foreign(path, {"SELECT count(*) FROM t"}) == std::to_string(rows));
  }
};

const std::vector<std::string> kMethods{"open", "dup", "procfd"};
const std::vector<std::vector<std::string>> kFiles{{""}, {"-shm"}, {"", "-shm"}, {"-wal"}};

BOOST_DATA_TEST_CASE(a_stray_then_a_foreign_last_close_loses_nothing,
                     boost::unit_test::data::make(kMethods)) {
  for (const auto& suffixes : kFiles) {
    Program program;
    for (const std::string& suffix : suffixes) stray_by(sample, program.path + suffix);
    BOOST_TEST(foreign(program.path, {"SELECT count(*) FROM t"}) == "1");
    program.insert();
    program.expect_whole();
    program.close();
  }
}

BOOST_AUTO_TEST_CASE(a_stray_then_a_foreign_writer_loses_nothing) {
  Program program;
  stray(program.path);
  stray(program.path + "-shm");
  BOOST_TEST(foreign(program.path, {"INSERT INTO t VALUES(100)"}) == "");
  ++program.rows;
  program.insert();
  program.expect_whole();
  program.close();
}

const RegisterRole sitter("sitter", [](const std::vector<std::string>& arguments) {
  sqlite3* db = nullptr;
  sqlite3_open(arguments.at(0).c_str(), &db);
  answer(value(db, "SELECT count(*) FROM t"));
  (void)next_order();
  return sqlite3_close(db);
});

BOOST_AUTO_TEST_CASE(a_stray_then_a_killed_visitor_loses_nothing) {
  Program program;
  stray(program.path);
  stray(program.path + "-shm");
  Process visitor("sitter", {program.path});
  BOOST_TEST(visitor.line() == "1");
  program.insert();
  visitor.kill();
  program.insert();
  program.expect_whole();
  program.insert();
  program.expect_whole();  // the look itself was a foreign last close
  program.close();
}

const RegisterRole opener("opener", [](const std::vector<std::string>& arguments) {
  for (int i = 0; i < 1000; ++i) {
    sqlite3* db = nullptr;
    if (sqlite3_open(arguments.at(0).c_str(), &db) != SQLITE_OK) return 2;
    sqlite3_busy_timeout(db, 60000);
    if (value(db, "SELECT count(*) FROM t").starts_with("error")) return 3;
    if (sqlite3_close(db) != SQLITE_OK) return 4;
  }
  return 0;
});

BOOST_AUTO_TEST_CASE(a_thousand_foreign_opens_never_cut_the_index) {
  Program program;
  stray(program.path);
  stray(program.path + "-shm");
  Process visitor("opener", {program.path});
  // Reads through the mapping all the while: a cut -shm would end this process by SIGBUS.
  for (int i = 0; i < 200; ++i) {
    program.insert();
    BOOST_TEST(value(program.db, "SELECT count(*) FROM t") == std::to_string(program.rows));
  }
  BOOST_TEST(visitor.wait() == 0);
  program.expect_whole();
  program.close();
}

BOOST_AUTO_TEST_CASE(the_stock_shell_as_visitor_loses_nothing) {
  Program program;
  stray(program.path);
  stray(program.path + "-shm");
  const std::string command =
      "sqlite3 '" + program.path + "' 'SELECT count(*) FROM t; PRAGMA wal_checkpoint' >/dev/null";
  BOOST_TEST(::system(command.c_str()) == 0);
  program.insert();
  BOOST_TEST(::system(command.c_str()) == 0);
  program.expect_whole();
  program.close();
}

BOOST_AUTO_TEST_CASE(refresh_takes_cancelled_locks_again) {
  Program program;
  const FileIdentity db = identity_of(program.path);
  const FileIdentity shm = identity_of(program.path + "-shm");
  BOOST_TEST(posix_locks(db, ::getpid()) == 1);
  BOOST_TEST(posix_locks(shm, ::getpid()) == 1);
  stray(program.path);
  stray(program.path + "-shm");
  BOOST_TEST(posix_locks(db, ::getpid()) == 0);
  BOOST_TEST(posix_locks(shm, ::getpid()) == 0);
  BOOST_TEST(program.guard.refresh());
  BOOST_TEST(posix_locks(db, ::getpid()) == 1);
  BOOST_TEST(posix_locks(shm, ::getpid()) == 1);
  BOOST_TEST(program.guard.refresh());  // healthy: nothing to do, nothing changes
  BOOST_TEST(posix_locks(db, ::getpid()) == 1);
  BOOST_TEST(WalGuard::status().at(0).locks_healed == 1U);
  program.close();
}

BOOST_AUTO_TEST_CASE(release_heals_before_it_unlocks) {
  Program program;
  stray(program.path);
  stray(program.path + "-shm");
  program.guard.release();
  // Nobody guards now, yet a foreign last close finds SQLite's own locks.
  BOOST_TEST(foreign(program.path, {"SELECT count(*) FROM t"}) == "1");
  program.insert();
  program.expect_whole();
  program.close();
}

BOOST_AUTO_TEST_CASE(nothing_is_healed_in_a_pause_or_after_release) {
  Program program;
  const FileIdentity db = identity_of(program.path);
  {
    Pause pause = program.guard.pause();
    stray(program.path);
    BOOST_TEST(!program.guard.refresh());
    BOOST_TEST(posix_locks(db, ::getpid()) == 0);
    BOOST_TEST((pause.resume() == Resumed::same_generation));
  }
  program.guard.refresh();
  BOOST_TEST(posix_locks(db, ::getpid()) == 1);
  program.guard.release();
  stray(program.path);
  BOOST_TEST(!program.guard.refresh());
  BOOST_TEST(posix_locks(db, ::getpid()) == 0);
  sqlite3_close(program.db);
}

BOOST_AUTO_TEST_CASE(a_guard_by_path_protects_as_well) {
  Scratch scratch;
  const std::string path = scratch / "by path.db";
  sqlite3* db = open_wal(path);
  WalGuard guard = WalGuard::hold_path(path);
  Pin wal(path + "-wal");
  stray(path);
  stray(path + "-shm");
  BOOST_TEST(foreign(path, {"SELECT count(*) FROM t"}) == "1");
  BOOST_TEST(wal.still_at_path());
  guard.release();
  sqlite3_close(db);
  BOOST_TEST(!exists(path + "-wal"));
}

}  // namespace
