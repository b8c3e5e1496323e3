// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE guarded_connection
#define BOOST_TEST_NO_MAIN
#define BOOST_TEST_NO_MAIN
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <string>
#include <utility>

#include <walguard/host_sqlite.hpp>

#include "processes.hpp"

namespace walguard::test {
namespace {

struct Fixture {
  Scratch scratch;
  std::string path = scratch / "a.db";

  GuardedConnection open() const {
    ConnectionOptions options;
    options.set_wal = true;
    GuardedConnection connection = GuardedConnection::open(host_sqlite(), path, options);
    BOOST_REQUIRE_EQUAL(exec(connection.handle(), "CREATE TABLE IF NOT EXISTS t(x)"), SQLITE_OK);
    BOOST_REQUIRE_EQUAL(exec(connection.handle(), "INSERT INTO t VALUES(1)"), SQLITE_OK);
    return connection;
  }
  bool guarded_outside() const {
    return ofd_locks(identity_of(path)) == 1 && ofd_locks(identity_of(path + "-shm")) == 1;
  }
  bool unlocked() const {
    return ofd_locks(identity_of(path)) == 0 && posix_locks(identity_of(path), 0) == 0;
  }
  bool sidecars() const { return exists(path + "-wal") || exists(path + "-shm"); }
};

sqlite3_stmt* started(sqlite3* db) {
  sqlite3_stmt* statement = nullptr;
  BOOST_REQUIRE_EQUAL(sqlite3_prepare_v2(db, "SELECT x FROM t", -1, &statement, nullptr),
                      SQLITE_OK);
  BOOST_REQUIRE_EQUAL(sqlite3_step(statement), SQLITE_ROW);
  return statement;
}

bool is_connection_busy(const Error& error) { return error.code() == errc::connection_busy; }

}  // namespace

BOOST_FIXTURE_TEST_SUITE(guarded_connection, Fixture)

BOOST_AUTO_TEST_CASE(close_releases_first_and_leaves_nothing) {
  GuardedConnection connection = open();
  BOOST_TEST(guarded_outside());
  connection.close();
  BOOST_TEST(connection.handle() == nullptr);
  BOOST_TEST(!sidecars());
  BOOST_TEST(unlocked());
  connection.close();  // idempotent
}

BOOST_AUTO_TEST_CASE(destructor_closes) {
  { GuardedConnection connection = open(); }
  BOOST_TEST(!sidecars());
  BOOST_TEST(unlocked());
}

BOOST_AUTO_TEST_CASE(reopened_connection_is_guarded_again) {
  GuardedConnection connection = open();
  connection.close();
  connection.reopen();
  BOOST_TEST(exec(connection.handle(), "INSERT INTO t VALUES(2)") == SQLITE_OK);
  BOOST_TEST((connection.state() == GuardState::guarded));
  BOOST_TEST(guarded_outside());
  const Pin wal(path + "-wal");
  stray(path);
  stray(path + "-shm");
  BOOST_TEST(foreign(path, {"SELECT count(*) FROM t"}) == "2");
  BOOST_TEST(wal.still_at_path());
  connection.reopen();  // an open one too
  BOOST_TEST(guarded_outside());
}

BOOST_AUTO_TEST_CASE(refused_close_stays_open_and_guarded) {
  GuardedConnection connection = open();
  sqlite3_stmt* statement = started(connection.handle());
  BOOST_CHECK_EXCEPTION(connection.close(), Error, is_connection_busy);
  BOOST_TEST(connection.handle() != nullptr);
  BOOST_TEST(guarded_outside());
  sqlite3_finalize(statement);
  connection.close();
  BOOST_TEST(!sidecars());
}

BOOST_AUTO_TEST_CASE(close_refused_for_a_backup_stays_guarded) {
  GuardedConnection connection = open();
  sqlite3* memory = nullptr;
  BOOST_REQUIRE_EQUAL(sqlite3_open(":memory:", &memory), SQLITE_OK);
  sqlite3_backup* backup = sqlite3_backup_init(memory, "main", connection.handle(), "main");
  BOOST_REQUIRE(backup != nullptr);
  BOOST_CHECK_EXCEPTION(connection.close(), Error, is_connection_busy);
  BOOST_TEST((connection.state() == GuardState::guarded));
  BOOST_TEST(guarded_outside());
  sqlite3_backup_finish(backup);
  sqlite3_close(memory);
  connection.close();
  BOOST_TEST(!sidecars());
}

BOOST_AUTO_TEST_CASE(zombie_stays_guarded_until_its_files_are_closed) {
  GuardedConnection connection = open();
  sqlite3_stmt* statement = started(connection.handle());
  connection.close_deferred();
  BOOST_TEST(connection.handle() == nullptr);
  BOOST_TEST(guarded_outside());
  const Pin wal(path + "-wal");
  stray(path);
  stray(path + "-shm");
  BOOST_TEST(foreign(path, {"SELECT count(*) FROM t"}) == "1");
  BOOST_TEST(wal.still_at_path());
  sqlite3_finalize(statement);
  (void)WalGuard::collect();
  BOOST_TEST(!sidecars());
  BOOST_TEST(unlocked());
}

BOOST_AUTO_TEST_CASE(checkpoint_heals_first_and_skips_a_closed_connection) {
  GuardedConnection connection = open();
  stray(path);
  stray(path + "-shm");
  BOOST_TEST(posix_locks(identity_of(path), ::getpid()) == 0);
  const CheckpointResult result = connection.checkpoint(CheckpointMode::truncate);
  BOOST_TEST(!result.skipped);
  BOOST_TEST(!result.busy);
  BOOST_TEST(posix_locks(identity_of(path), ::getpid()) > 0);
  connection.close();
  BOOST_TEST(connection.checkpoint().skipped);
  BOOST_TEST(!connection.refresh());
}

BOOST_AUTO_TEST_CASE(forked_child_neither_closes_nor_releases) {
  GuardedConnection connection = open();
  const pid_t child = ::fork();
  if (child == 0) {
    int bad = connection.refresh() ? 1 : 0;
    bad += connection.checkpoint().skipped ? 0 : 2;
    bad += connection.state() == GuardState::inert ? 0 : 4;
    connection.close();
    connection.close_deferred();
    ::_exit(bad);
  }
  int status = -1;
  BOOST_TEST(::waitpid(child, &status, 0) == child);
  BOOST_TEST(status == 0);
  BOOST_TEST(guarded_outside());
  BOOST_TEST(posix_locks(identity_of(path), ::getpid()) > 0);
}

BOOST_AUTO_TEST_CASE(moved_from_and_empty_objects_do_nothing) {
  GuardedConnection connection = open();
  GuardedConnection other(std::move(connection));
  connection.close();
  connection.close_deferred();
  BOOST_TEST(connection.handle() == nullptr);
  BOOST_TEST(connection.checkpoint().skipped);
  BOOST_TEST(!connection.refresh());
  BOOST_TEST((connection.check().verdict == Verdict::not_held));
  BOOST_CHECK_THROW((void)connection.pause(), Error);
  BOOST_CHECK_THROW(connection.reopen(), Error);
  BOOST_TEST(guarded_outside());
  other = GuardedConnection();
  BOOST_TEST(!sidecars());
  BOOST_TEST(unlocked());
}

BOOST_AUTO_TEST_CASE(adopted_connection_is_guarded_and_a_refused_one_stays_the_callers) {
  sqlite3* db = open_wal(path);
  GuardedConnection connection = GuardedConnection::adopt(host_sqlite(), db);
  BOOST_TEST(connection.handle() == db);
  BOOST_TEST(guarded_outside());
  connection.close();
  BOOST_TEST(!sidecars());
  sqlite3* memory = nullptr;
  BOOST_REQUIRE_EQUAL(sqlite3_open(":memory:", &memory), SQLITE_OK);
  BOOST_CHECK_THROW((void)GuardedConnection::adopt(host_sqlite(), memory), Error);
  BOOST_TEST(sqlite3_close(memory) == SQLITE_OK);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace walguard::test
