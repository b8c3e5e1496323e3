// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE refusals
#define BOOST_TEST_NO_MAIN
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "processes.hpp"
#include "walguard/host_sqlite.hpp"

namespace {

using namespace walguard;
using namespace walguard::test;
namespace fs = std::filesystem;

// The code with which the hold is refused; no code when it is not. Nothing may be left over.
template <typename Hold>
std::error_code refusal(Hold attempt) {
  const std::size_t before = WalGuard::status().size();
  try {
    WalGuard guard = attempt();
    return {};
  } catch (const Error& error) {
    BOOST_TEST(WalGuard::status().size() == before);
    BOOST_TEST(std::string(error.what()).size() > 20U);
    return error.code();
  }
}
std::error_code refusal_of(sqlite3* db, const char* schema = "main") {
  return refusal([&] { return hold(db, schema, {.timeout = std::chrono::milliseconds(0)}); });
}

sqlite3* open_as(const std::string& name, int flags, const char* vfs = nullptr) {
  sqlite3* db = nullptr;
  BOOST_REQUIRE_EQUAL(sqlite3_open_v2(name.c_str(), &db, flags | SQLITE_OPEN_URI, vfs), SQLITE_OK);
  return db;
}
constexpr int kReadWrite = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;

BOOST_AUTO_TEST_CASE(a_database_without_a_file_is_refused) {
  sqlite3* db = open_as(":memory:", kReadWrite);
  BOOST_TEST((refusal_of(db) == errc::no_database_file));
  BOOST_TEST((refusal_of(db, "nosuch") == errc::no_such_schema));
  BOOST_TEST((refusal_of(db, "") == errc::invalid_argument));
  sqlite3_close(db);
  BOOST_TEST((refusal_of(nullptr) == errc::invalid_argument));
}

BOOST_AUTO_TEST_CASE(an_incomplete_table_is_refused) {
  SqliteApi table = host_sqlite();
  table.step = nullptr;
  sqlite3* db = open_as(":memory:", kReadWrite);
  BOOST_TEST((refusal([&] { return WalGuard::hold(table, db); }) == errc::invalid_argument));
  sqlite3_close(db);
}

BOOST_AUTO_TEST_CASE(a_rollback_journal_is_refused) {
  Scratch scratch;
  sqlite3* db = open_as(scratch / "app.db", kReadWrite);
  exec(db, "CREATE TABLE t(x)");
  BOOST_TEST((refusal_of(db) == errc::not_wal));
  sqlite3_close(db);
}

BOOST_AUTO_TEST_CASE(exclusive_locking_is_refused_and_takes_no_lock) {
  Scratch scratch;
  const std::string path = scratch / "app.db";
  sqlite3_close(open_wal(path));
  sqlite3* db = open_as(path, kReadWrite);
  exec(db, "PRAGMA locking_mode=EXCLUSIVE");
  BOOST_TEST((refusal_of(db) == errc::exclusive_locking_mode));
  BOOST_TEST(foreign(path, {"SELECT count(*) FROM t"}) == "1");  // the refusal did not lock it
  sqlite3_close(db);
}

BOOST_AUTO_TEST_CASE(other_lock_protocols_are_refused) {
  Scratch scratch;
  for (const char* vfs : {"unix-excl", "unix-none", "unix-dotfile"}) {
    const std::string path = scratch / vfs;
    sqlite3_close(open_wal(path));
    sqlite3* db = open_as(path, kReadWrite, vfs);
    BOOST_TEST((refusal_of(db) == errc::vfs_without_posix_locks));
    sqlite3_close(db);
  }
  const std::string path = scratch / "nolock.db";
  sqlite3_close(open_wal(path));
  sqlite3* db = open_as("file:" + path + "?nolock=1", kReadWrite);
  BOOST_TEST((refusal_of(db) == errc::vfs_without_posix_locks));
  sqlite3_close(db);
  db = open_as("file:" + path + "?immutable=1", SQLITE_OPEN_READONLY);
  BOOST_TEST((refusal_of(db) == errc::immutable_database));
  sqlite3_close(db);
}

BOOST_AUTO_TEST_CASE(a_second_name_is_refused) {
  Scratch scratch;
  const std::string path = scratch / "app.db";
  sqlite3* db = open_wal(path);
  fs::create_hard_link(path, scratch / "second.db");
  BOOST_TEST((refusal_of(db) == errc::hard_link));
  fs::remove(scratch / "second.db");
  BOOST_TEST((refusal_of(db) == std::error_code()));
  sqlite3_close(db);
}

BOOST_AUTO_TEST_CASE(a_moved_database_is_refused) {
  Scratch scratch;
  const std::string path = scratch / "app.db";
  sqlite3* db = open_wal(path);
  fs::rename(path, scratch / "away.db");
  BOOST_TEST((refusal_of(db) == errc::database_moved));
  fs::rename(scratch / "away.db", path);
  BOOST_TEST((refusal_of(db) == std::error_code()));
  sqlite3_close(db);
}

BOOST_AUTO_TEST_CASE(a_generation_that_is_gone_is_refused) {
  for (const char* suffix : {"-wal", "-shm"}) {
    Scratch scratch;
    const std::string path = scratch / "app.db";
    sqlite3* db = open_wal(path);
    fs::rename(path + suffix, path + ".kept");
    BOOST_TEST((refusal_of(db) == errc::generation_lost));
    fs::rename(path + ".kept", path + suffix);
    BOOST_TEST((refusal_of(db) == std::error_code()));
    sqlite3_close(db);
  }
}

const RegisterRole reader("reader", [](const std::vector<std::string>& arguments) {
  sqlite3* db = nullptr;
  sqlite3_open(arguments.at(0).c_str(), &db);
  answer(value(db, "SELECT count(*) FROM t"));
  (void)next_order();
  return sqlite3_close(db);
});

BOOST_AUTO_TEST_CASE(by_path_this_process_must_have_it_open_and_mapped) {
  Scratch scratch;
  const std::string path = scratch / "app.db";
  const auto by_path = [&](const std::string& name) {
    return refusal([&] { return WalGuard::hold_path(name); });
  };
  BOOST_TEST((by_path(path) == errc::not_open_here));  // not even there
  BOOST_TEST((by_path("") == errc::invalid_argument));
  sqlite3_close(open_wal(path));
  BOOST_TEST((by_path(path) == errc::not_open_here));
  sqlite3* db = open_as(path, kReadWrite);  // opened, not read: nothing is mapped yet
  BOOST_TEST((by_path(path) == errc::shm_not_mapped));
  Process other("reader", {path});  // now there is a -shm, but it is not mapped here
  BOOST_REQUIRE(other.line() == "1");
  BOOST_TEST((by_path(path) == errc::shm_not_mapped));
  BOOST_TEST(value(db, "SELECT count(*) FROM t") == "1");
  BOOST_TEST((by_path(path) == std::error_code()));
  sqlite3_close(db);
}

const RegisterRole excluder("excluder", [](const std::vector<std::string>& arguments) {
  sqlite3* db = nullptr;
  sqlite3_open(arguments.at(0).c_str(), &db);
  exec(db, "PRAGMA locking_mode=EXCLUSIVE");
  answer(exec(db, "INSERT INTO t VALUES(7)") == SQLITE_OK ? "locked" : "failed");
  (void)next_order();
  return sqlite3_close(db);
});

BOOST_AUTO_TEST_CASE(a_foreign_exclusive_lock_is_named_and_waited_for) {
  Scratch scratch;
  const std::string path = scratch / "app.db";
  sqlite3_close(open_wal(path));
  Process other("excluder", {path});
  BOOST_REQUIRE(other.line() == "locked");
  sqlite3* db = open_as(path, kReadWrite);
  for (const int milliseconds : {0, 30}) {
    try {
      WalGuard guard = hold(db, "main", {.timeout = std::chrono::milliseconds(milliseconds)});
      BOOST_TEST(false, "held beside an exclusive lock");
    } catch (const Error& error) {
      BOOST_TEST((error.code() == errc::lock_busy));
      BOOST_TEST((error.holder_pid() == std::optional<std::int64_t>(other.pid())));
      BOOST_TEST(error.path() == path);
      BOOST_TEST(error.range().has_value());
    }
  }
  other.say("go");
  BOOST_TEST(other.wait() == 0);
  BOOST_TEST((refusal_of(db) == std::error_code()));
  sqlite3_close(db);
}

BOOST_AUTO_TEST_CASE(names_of_every_kind_are_guarded) {
  Scratch scratch;
  fs::create_directory(scratch / "real");
  fs::create_directory_symlink("real", scratch / "link");
  fs::create_symlink("real/app.db", scratch / "final.db");
  sqlite3* keep = open_wal(scratch / "real/app.db");
  const std::string wanted = fs::canonical(scratch / "real/app.db");
  for (const std::string& name : {scratch / "real/app.db", scratch / "link/app.db",
                                  scratch / "final.db", scratch / "real/../link/app.db"}) {
    sqlite3* db = open_as(name, kReadWrite);
    WalGuard guard = hold(db);
    BOOST_TEST(guard.path() == wanted);
    BOOST_TEST(WalGuard::hold_path(name).path() == wanted);
    guard.release();
    sqlite3_close(db);
  }
  sqlite3_close(keep);

  std::string longest = scratch / "";
  while (longest.size() < 400) longest += std::string(99, 'd') + "/";
  fs::create_directories(longest);
  longest += std::string(500 - longest.size(), 'x');
  for (const std::string& name : {scratch / "with space 'quote\" \n.db", scratch / "\xff\xfe.db",
                                  scratch / "x (deleted)", longest}) {
    sqlite3* db = open_wal(name);
    WalGuard guard = hold(db);
    BOOST_TEST((guard.state() == GuardState::guarded));
    stray(name);
    BOOST_TEST(guard.refresh());
    guard.release();
    sqlite3_close(db);
    BOOST_TEST(!exists(name + "-wal"));
  }
}

BOOST_AUTO_TEST_CASE(losses_are_told_apart) {
  struct Fault {
    const char* suffix;
    bool replace;
    Verdict verdict;
  };
  for (const Fault& fault :
       {Fault{"", false, Verdict::db_unlinked}, Fault{"", true, Verdict::db_replaced},
        Fault{"-wal", false, Verdict::wal_unlinked}, Fault{"-wal", true, Verdict::wal_replaced},
        Fault{"-shm", false, Verdict::shm_unlinked}, Fault{"-shm", true, Verdict::shm_replaced}}) {
    Scratch scratch;
    const std::string path = scratch / "app.db";
    sqlite3* db = open_wal(path);
    WalGuard guard = hold(db);
    BOOST_TEST(guard.check().intact());
    if (fault.replace) {
      fs::copy_file(path + fault.suffix, scratch / "new");
      fs::rename(scratch / "new", path + fault.suffix);
    } else {
      fs::remove(path + fault.suffix);
    }
    const CheckResult result = guard.check();
    BOOST_TEST((result.verdict == fault.verdict));
    BOOST_TEST((result.held.db.known()));
    std::error_code error;
    BOOST_TEST(!guard.refresh(error));
    BOOST_TEST((error == errc::generation_lost));
    BOOST_TEST((guard.state() == GuardState::lost));
    // Sticky while the stale connection lives, also for another guard.
    BOOST_TEST((refusal_of(db) != std::error_code()));
    sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    guard.release();
    sqlite3_close(db);
  }
}

BOOST_AUTO_TEST_CASE(a_renamed_parent_directory_is_no_loss) {
  Scratch scratch;
  fs::create_directory(scratch / "dir");
  sqlite3* db = open_wal(scratch / "dir/app.db");
  WalGuard guard = hold(db);
  fs::rename(scratch / "dir", scratch / "moved");
  BOOST_TEST((guard.check().verdict == Verdict::moved_or_unreachable));
  stray(scratch / "moved/app.db");
  BOOST_TEST(guard.refresh());
  BOOST_TEST((guard.state() == GuardState::guarded));
  BOOST_TEST(posix_locks(identity_of(scratch / "moved/app.db"), ::getpid()) == 1);
  fs::rename(scratch / "moved", scratch / "dir");
  BOOST_TEST(guard.check().intact());
  guard.release();
  sqlite3_close(db);
  BOOST_TEST(!exists(scratch / "dir/app.db-wal"));
}

}  // namespace
