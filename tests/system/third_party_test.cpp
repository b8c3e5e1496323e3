// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE third_party
#define BOOST_TEST_NO_MAIN
#include <dlfcn.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <thread>
#include <vector>

#include "processes.hpp"
#include "walguard/host_sqlite.hpp"

namespace {

using namespace walguard;
using namespace walguard::test;
namespace fs = std::filesystem;

// What a library does that closes descriptors it does not own.
void close_everything() {
#ifdef SYS_close_range
  if (::syscall(SYS_close_range, 3U, ~0U, 0U) == 0) return;
#endif
  for (int fd = 3; fd < 1024; ++fd) ::close(fd);
}

const RegisterRole swept("swept", [](const std::vector<std::string>& arguments) -> int {
  const std::string& path = arguments.at(0);
  sqlite3* db = nullptr;
  sqlite3_open(path.c_str(), &db);
  exec(db, "PRAGMA journal_mode=WAL");
  exec(db, "CREATE TABLE t(x)");
  exec(db, "INSERT INTO t VALUES(1)");
  WalGuard guard = hold(db);
  answer("ready");
  (void)next_order();
  close_everything();
  answer("swept");
  (void)next_order();
  std::error_code refreshed;
  std::error_code released;
  guard.refresh(refreshed);
  const bool checked = guard.check().verdict == Verdict::descriptors_closed;
  guard.release(released);
  answer(refreshed == errc::descriptors_closed && checked && released == errc::descriptors_closed
             ? "told"
             : "not told: " + refreshed.message() + ", " + released.message());
  (void)next_order();
  ::_exit(0);  // the connection is lost: closing it would close other people's numbers
});

BOOST_AUTO_TEST_CASE(a_sweep_of_descriptors_does_not_disarm_the_keeper,
                     *boost::unit_test::precondition([](boost::unit_test::test_unit_id) {
                       return boost::test_tools::assertion_result(!in_process_table());
                     })) {
  Scratch scratch;
  const std::string path = scratch / "app.db";
  Process program("swept", {path});
  BOOST_REQUIRE(program.line() == "ready");
  const Pin wal(path + "-wal");
  const Pin shm(path + "-shm");
  program.say("sweep");
  BOOST_REQUIRE(program.line() == "swept");
  for (int visit = 0; visit < 3; ++visit) {
    BOOST_TEST(foreign(path, {"SELECT count(*) FROM t"}) == "1");
    BOOST_TEST(wal.still_at_path());
    BOOST_TEST(shm.still_at_path());
  }
  program.say("ask");
  BOOST_TEST(program.line() == "told");
  // Nothing was locked by number on the way out.
  BOOST_TEST(ofd_locks(identity_of(path)) == 0);
  BOOST_TEST(posix_locks(identity_of(path), program.pid()) == 0);
  program.say("end");
  BOOST_TEST(program.wait() == 0);
  BOOST_TEST(foreign(path, {"PRAGMA integrity_check"}) == "ok");
}

BOOST_AUTO_TEST_CASE(a_closed_descriptor_of_the_guard_is_taken_again) {
  if (!in_process_table()) {
    BOOST_TEST(true);  // nobody can reach the keeper's: see the sweep
    return;
  }
  Scratch scratch;
  const std::string path = scratch / "app.db";
  sqlite3* db = open_wal(path);
  std::vector<int> before;
  for (int fd = 3; fd < 64; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) before.push_back(fd);
  }
  WalGuard guard = hold(db);
  int relocked = 0;
  const auto sink = add_event_sink(
      [&](const Event& event) { relocked += event.kind == EventKind::guard_relocked; });
  for (int fd = 3; fd < 64; ++fd) {
    if (std::find(before.begin(), before.end(), fd) == before.end()) ::close(fd);
  }
  BOOST_TEST(ofd_locks(identity_of(path)) == 0);
  BOOST_TEST(guard.refresh());
  BOOST_TEST(relocked == 1);
  BOOST_TEST(ofd_locks(identity_of(path)) == 1);
  BOOST_TEST(ofd_locks(identity_of(path + "-shm")) == 1);
  BOOST_TEST(posix_locks(identity_of(path), ::getpid()) == 1);  // the closes were strays, too
  remove_event_sink(sink);
  guard.release();
  sqlite3_close(db);
  WalGuard::collect();
  BOOST_TEST(!exists(path + "-wal"));
}

// SQLite once more, as a bundled or statically linked one would be.
struct SecondSqlite {
  void* library = nullptr;
  decltype(&sqlite3_open) open = nullptr;
  decltype(&sqlite3_exec) exec = nullptr;
  decltype(&sqlite3_close) close = nullptr;

  explicit SecondSqlite(const std::string& copy) {
    Dl_info info{};
    BOOST_REQUIRE(::dladdr(reinterpret_cast<void*>(&sqlite3_open), &info) != 0);
    fs::copy_file(fs::canonical(info.dli_fname), copy);
    library = ::dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
    BOOST_REQUIRE(library != nullptr);
    open = reinterpret_cast<decltype(open)>(::dlsym(library, "sqlite3_open"));
    exec = reinterpret_cast<decltype(exec)>(::dlsym(library, "sqlite3_exec"));
    close = reinterpret_cast<decltype(close)>(::dlsym(library, "sqlite3_close"));
    BOOST_REQUIRE(open != &sqlite3_open);
  }
};

BOOST_AUTO_TEST_CASE(a_second_sqlite_does_not_end_the_generation) {
  Scratch scratch;
  const std::string path = scratch / "app.db";
  SecondSqlite second(scratch / "second.so");
  sqlite3* db = open_wal(path);
  WalGuard guard = hold(db);
  const Pin wal(path + "-wal");
  const Pin shm(path + "-shm");
  for (int visit = 0; visit < 3; ++visit) {
    sqlite3* other = nullptr;
    BOOST_TEST(second.open(path.c_str(), &other) == SQLITE_OK);
    BOOST_TEST(second.exec(other, "SELECT * FROM t", nullptr, nullptr, nullptr) == SQLITE_OK);
    BOOST_TEST(second.close(other) == SQLITE_OK);
    BOOST_TEST(exec(db, "INSERT INTO t VALUES(2)") == SQLITE_OK);
    BOOST_TEST(wal.still_at_path());
    BOOST_TEST(shm.still_at_path());
  }
  BOOST_TEST(foreign(path, {"SELECT count(*) FROM t"}) == "4");
  guard.release();
  sqlite3_close(db);
  BOOST_TEST(!exists(path + "-wal"));
  BOOST_TEST(foreign(path, {"PRAGMA integrity_check"}) == "ok");
}

// Another walguard, as a plugin that links it would bring: see second_walguard.cpp.
BOOST_AUTO_TEST_CASE(two_walguards_do_not_disarm_each_other) {
  void* plugin = ::dlopen(std::getenv("SECOND_WALGUARD"), RTLD_NOW | RTLD_LOCAL);
  BOOST_REQUIRE_MESSAGE(plugin != nullptr, ::dlerror());
  auto* plugin_hold = reinterpret_cast<void* (*)(sqlite3*)>(::dlsym(plugin, "plugin_hold"));
  auto* plugin_release = reinterpret_cast<void (*)(void*)>(::dlsym(plugin, "plugin_release"));
  for (const bool ours_first : {false, true}) {
    Scratch scratch;
    const std::string path = scratch / "app.db";
    sqlite3* db = open_wal(path);
    WalGuard guard = hold(db);
    void* theirs = plugin_hold(db);
    BOOST_REQUIRE(theirs != nullptr);
    BOOST_TEST(ofd_locks(identity_of(path)) == 2);
    if (ours_first) {
      guard.release();
    } else {
      plugin_release(theirs);
    }
    BOOST_TEST(ofd_locks(identity_of(path)) == 1);
    stray(path);
    stray(path + "-shm");
    const Pin wal(path + "-wal");
    BOOST_TEST(foreign(path, {"SELECT count(*) FROM t"}) == "1");
    BOOST_TEST(wal.still_at_path());
    if (ours_first) plugin_release(theirs);
    guard.release();
    sqlite3_close(db);
    BOOST_TEST(!exists(path + "-wal"));
  }
}

BOOST_AUTO_TEST_CASE(a_refresh_that_lands_after_the_close_locks_nothing) {
  Scratch scratch;
  const std::string path = scratch / "app.db";
  sqlite3_close(open_wal(path));
  const int rounds = long_run() ? 10000 : 500;
  for (int round = 0; round < rounds; ++round) {
    sqlite3* db = nullptr;
    BOOST_REQUIRE(sqlite3_open(path.c_str(), &db) == SQLITE_OK);
    WalGuard guard = hold(db);
    std::atomic<bool> go{false};
    std::thread refresher([&] {
      while (!go.load()) {
      }
      std::error_code error;
      guard.refresh(error);
    });
    go.store(true);
    guard.release();
    sqlite3_close(db);
    refresher.join();
    if (round % 100 == 0) {
      BOOST_REQUIRE(ofd_locks(identity_of(path)) == 0);
      BOOST_REQUIRE(posix_locks(identity_of(path), ::getpid()) == 0);
    }
    if (exists(path + "-wal")) BOOST_FAIL("the last close left its sidecars");
  }
  BOOST_TEST(foreign(path, {"PRAGMA journal_mode=DELETE"}) == "delete");
}

BOOST_AUTO_TEST_CASE(guards_may_come_and_go_on_many_threads) {
  Scratch scratch;
  constexpr int kDatabases = 3;
  std::vector<std::string> paths;
  for (int i = 0; i < kDatabases; ++i) {
    paths.push_back(scratch / ("app" + std::to_string(i) + ".db"));
    sqlite3_close(open_wal(paths.back()));
  }
  const int rounds = long_run() ? 2000 : 100;
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < rounds; ++round) {
        const std::string& path = paths[static_cast<std::size_t>((t + round) % kDatabases)];
        sqlite3* db = nullptr;
        sqlite3_open(path.c_str(), &db);
        sqlite3_busy_timeout(db, 60000);
        try {
          WalGuard guard = hold(db);
          WalGuard again = hold(db);
          if (value(db, "SELECT count(*) FROM t") != "1") ++failures;
          guard.refresh();
          if (round % 7 == 0) (void)WalGuard::status();
          if (round % 5 == 0) WalGuard::collect();
          std::thread elsewhere([&] { again.release(); });
          elsewhere.join();
        } catch (const Error& error) {
          BOOST_TEST_MESSAGE(error.what());
          ++failures;
        }
        if (sqlite3_close(db) != SQLITE_OK) ++failures;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  BOOST_TEST(failures.load() == 0);
  WalGuard::collect();
  for (const std::string& path : paths) {
    BOOST_TEST(ofd_locks(identity_of(path)) == 0);
    BOOST_TEST(foreign(path, {"PRAGMA integrity_check"}) == "ok");
    BOOST_TEST(foreign(path, {"PRAGMA journal_mode=DELETE"}) == "delete");
  }
}

}  // namespace
