// SPDX-License-Identifier: MIT
// Where a database may be and what it may look like.
#define BOOST_TEST_MODULE places
#define BOOST_TEST_NO_MAIN
#include <sqlite3.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>

#include "processes.hpp"
#include "scrambled_vfs.hpp"
#include "walguard/host_sqlite.hpp"

namespace {

using namespace walguard;
using namespace walguard::test;
namespace fs = std::filesystem;

sqlite3* open_scrambled(const std::string& path) {
  register_scrambled_vfs();
  sqlite3* db = nullptr;
  sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, kScrambled);
  sqlite3_busy_timeout(db, 60000);
  return db;
}

const RegisterRole scrambled_visitor("scrambled", [](const std::vector<std::string>& arguments) {
  sqlite3* db = open_scrambled(arguments.at(0));
  const std::string rows = value(db, "SELECT count(*) FROM t");
  const std::string whole = value(db, "PRAGMA integrity_check");
  answer(sqlite3_close(db) == SQLITE_OK ? rows + " " + whole : "not closed");
  return 0;
});

std::string scrambled_foreign(const std::string& path) {
  Process visitor("scrambled", {path});
  std::string said = visitor.line();
  BOOST_TEST(visitor.wait() == 0);
  return said;
}

BOOST_AUTO_TEST_CASE(a_database_without_the_header_of_sqlite_is_guarded) {
  Scratch scratch;
  const std::string path = scratch / "secret.db";
  sqlite3* db = open_scrambled(path);
  BOOST_REQUIRE(value(db, "PRAGMA journal_mode=WAL") == "wal");
  BOOST_REQUIRE(exec(db, "CREATE TABLE t(x); INSERT INTO t VALUES(1)") == SQLITE_OK);
  BOOST_REQUIRE(exec(db, "PRAGMA wal_checkpoint(TRUNCATE)") == SQLITE_OK);
  char header[16] = {};
  {
    std::ifstream file(path, std::ios::binary);  // a stray, too
    BOOST_REQUIRE(file.read(header, sizeof(header)));
  }
  BOOST_REQUIRE(std::string(header, 6) != "SQLite");
  WalGuard guard = hold(db);
  const Pin wal(path + "-wal");
  const Pin shm(path + "-shm");
  for (int round = 0; round < 3; ++round) {
    stray(path);
    stray(path + "-shm");
    BOOST_TEST(scrambled_foreign(path) == std::to_string(round + 1) + " ok");
    BOOST_TEST(exec(db, "INSERT INTO t VALUES(2)") == SQLITE_OK);
    BOOST_TEST(wal.still_at_path());
    BOOST_TEST(shm.still_at_path());
  }
  BOOST_TEST((WalGuard::hold_path(path).state() == GuardState::guarded));
  guard.release();
  BOOST_TEST(sqlite3_close(db) == SQLITE_OK);
  BOOST_TEST(!exists(path + "-wal"));
  BOOST_TEST(scrambled_foreign(path) == "4 ok");
}

BOOST_AUTO_TEST_CASE(a_temporary_database_is_refused) {
  sqlite3* db = nullptr;
  BOOST_REQUIRE(sqlite3_open("", &db) == SQLITE_OK);
  BOOST_TEST(exec(db, "CREATE TEMP TABLE scratch(x)") == SQLITE_OK);
  for (const char* schema : {"main", "temp"}) {
    try {
      WalGuard guard = hold(db, schema);
      BOOST_TEST(false, "held a temporary database");
    } catch (const Error& error) {
      BOOST_TEST((error.code() == errc::no_database_file));
    }
  }
  BOOST_TEST(WalGuard::status().empty());
  sqlite3_close(db);
}

BOOST_AUTO_TEST_CASE(a_relative_path_is_guarded_and_outlives_a_change_of_directory) {
  Scratch scratch;
  fs::create_directory(scratch / "elsewhere");
  const fs::path before = fs::current_path();
  fs::current_path(scratch / "");
  sqlite3* db = open_wal("app.db");
  WalGuard guard = hold(db);
  BOOST_TEST(WalGuard::hold_path("app.db").path() == guard.path());
  BOOST_TEST(WalGuard::hold_path("elsewhere/../app.db").path() == guard.path());
  fs::current_path(scratch / "elsewhere");
  BOOST_TEST(guard.check().intact());
  stray(scratch / "app.db");
  BOOST_TEST(guard.refresh());
  BOOST_TEST(posix_locks(identity_of(scratch / "app.db"), ::getpid()) == 1);
  BOOST_TEST(ofd_locks(identity_of(scratch / "app.db")) == 1);
  guard.release();
  sqlite3_close(db);
  BOOST_TEST(!exists(scratch / "app.db-wal"));
  fs::current_path(before);
}

// The jail has another database under the very same name.
const RegisterRole prisoner("prisoner", [](const std::vector<std::string>& arguments) -> int {
  const std::string& path = arguments.at(0);
  sqlite3* db = open_wal(path);
  WalGuard guard = hold(db);
  if (::chroot(arguments.at(1).c_str()) != 0 || ::chdir("/") != 0) return 2;
  answer(guard.check().verdict == Verdict::moved_or_unreachable ? "unreachable"
                                                                : "another verdict");
  (void)next_order();
  std::error_code error;
  const bool good = guard.refresh(error);
  answer(good && guard.state() == GuardState::guarded ? "guarded" : "not: " + error.message());
  answer(exec(db, "INSERT INTO t VALUES(1)") == SQLITE_OK ? "inserted" : "not inserted");
  (void)next_order();
  guard.release(error);
  answer(error ? error.message() : "released");
  (void)next_order();
  ::_exit(0);  // a sanitizer's report at exit would not find /proc here
});

BOOST_AUTO_TEST_CASE(a_chroot_is_no_loss,
                     *boost::unit_test::precondition([](boost::unit_test::test_unit_id) {
                       boost::test_tools::assertion_result root(::geteuid() == 0);
                       root.message() << "only root may chroot";
                       return root;
                     })) {
  Scratch scratch;
  const std::string path = scratch / "app.db";
  const std::string jail = scratch / "jail";
  fs::create_directories(jail + fs::path(path).parent_path().string());
  sqlite3_close(open_wal(jail + path));
  for (const char* suffix : {"-wal", "-shm"}) std::ofstream(jail + path + suffix) << "another";
  Process program("prisoner", {path, jail});
  BOOST_TEST(program.line() == "unreachable");
  const Pin wal(path + "-wal");
  program.say("refresh");
  BOOST_TEST(program.line() == "guarded");
  BOOST_TEST(program.line() == "inserted");
  BOOST_TEST(ofd_locks(identity_of(path)) == 1);
  BOOST_TEST(ofd_locks(identity_of(path + "-shm")) == 1);
  BOOST_TEST(foreign(path, {"SELECT count(*) FROM t"}) == "2");
  BOOST_TEST(wal.still_at_path());
  program.say("release");
  BOOST_TEST(program.line() == "released");
  BOOST_TEST(ofd_locks(identity_of(path)) == 0);
  program.say("end");
  BOOST_TEST(program.wait() == 0);
  BOOST_TEST(foreign(path, {"PRAGMA integrity_check"}) == "ok");
}

}  // namespace
