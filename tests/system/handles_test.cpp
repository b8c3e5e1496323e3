// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE handles
#define BOOST_TEST_NO_MAIN
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <vector>

#include "processes.hpp"
#include "walguard/host_sqlite.hpp"

namespace {

using namespace walguard;
using namespace walguard::test;

bool guarded_from_outside(const std::string& path) {
  return ofd_locks(identity_of(path)) == 1 && ofd_locks(identity_of(path + "-shm")) == 1;
}
bool free_from_outside(const std::string& path) {
  return ofd_locks(identity_of(path)) == 0 &&
         (!exists(path + "-shm") || ofd_locks(identity_of(path + "-shm")) == 0);
}

struct Events {
  std::vector<EventKind> kinds;
  std::uint64_t id = add_event_sink([this](const Event& event) { kinds.push_back(event.kind); });
  ~Events() { remove_event_sink(id); }
  [[nodiscard]] long count(EventKind kind) const {
    return std::count(kinds.begin(), kinds.end(), kind);
  }
};

BOOST_AUTO_TEST_CASE(the_first_release_keeps_the_second_handle_guarded) {
  Scratch scratch;
  const std::string path = scratch / "app.db";
  sqlite3* a = open_wal(path);
  sqlite3* b = open_wal(path);
  WalGuard guard_a = hold(a);
  WalGuard guard_b = hold(b);
  guard_a.release();
  guard_a.release();  // twice takes nobody's share
  BOOST_TEST(guarded_from_outside(path));
  sqlite3_close(a);
  BOOST_TEST(guarded_from_outside(path));
  guard_b.release();
  BOOST_TEST(free_from_outside(path));
  sqlite3_close(b);
  BOOST_TEST(!exists(path + "-wal"));
  BOOST_TEST(!exists(path + "-shm"));
}

BOOST_AUTO_TEST_CASE(a_connection_held_twice_needs_both_releases) {
  Scratch scratch;
  const std::string path = scratch / "app.db";
  sqlite3* db = open_wal(path);
  WalGuard one = hold(db);
  WalGuard two = hold(db);
  one.release();
  BOOST_TEST(guarded_from_outside(path));
  two.release();
  BOOST_TEST(free_from_outside(path));
  sqlite3_close(db);
  BOOST_TEST(!exists(path + "-wal"));
}

BOOST_AUTO_TEST_CASE(an_attached_database_is_guarded_by_its_schema_name) {
  Scratch scratch;
  const std::string main = scratch / "main.db";
  const std::string other = scratch / "oth'er \"x.db";
  sqlite3_close(open_wal(other));
  sqlite3* db = open_wal(main);
  char* attach = sqlite3_mprintf("ATTACH %Q AS \"the \"\"other\"", other.c_str());
  BOOST_TEST(exec(db, attach) == SQLITE_OK);
  sqlite3_free(attach);
  WalGuard guard = hold(db, "the \"other");
  BOOST_TEST(guarded_from_outside(other));
  BOOST_TEST(free_from_outside(main));
  guard.release();
  BOOST_TEST(exec(db, "DETACH \"the \"\"other\"") == SQLITE_OK);
  BOOST_TEST(!exists(other + "-wal"));
  sqlite3_close(db);
}

BOOST_AUTO_TEST_CASE(a_recycled_descriptor_number_keeps_the_third_handle_guarded) {
  Scratch scratch;
  const std::string path = scratch / "app.db";
  sqlite3* a = open_wal(path);
  sqlite3* b = open_wal(path);
  WalGuard guard_a = hold(a);
  WalGuard guard_b = hold(b);
  guard_a.release();
  sqlite3_close(a);
  sqlite3* c = open_wal(path);  // gets the lowest free number
  WalGuard guard_c = hold(c);
  guard_b.release();
  sqlite3_close(b);
  BOOST_TEST(guarded_from_outside(path));
  guard_c.release();
  sqlite3_close(c);
  BOOST_TEST(!exists(path + "-wal"));
}

BOOST_AUTO_TEST_CASE(a_reopened_writer_is_guarded_again) {
  Scratch scratch;
  const std::string path = scratch / "app.db";
  for (int round = 0; round < 100; ++round) {
    sqlite3* db = open_wal(path);
    WalGuard guard = hold(db);
    BOOST_TEST(guarded_from_outside(path));
    guard.release();
    BOOST_TEST(free_from_outside(path));
    sqlite3_close(db);
    BOOST_TEST(!exists(path + "-wal"));
  }
}

BOOST_AUTO_TEST_CASE(a_read_only_connection_is_guarded) {
  Scratch scratch;
  const std::string path = scratch / "app.db";
  sqlite3* writer = open_wal(path);
  sqlite3* reader = nullptr;
  BOOST_REQUIRE(sqlite3_open_v2(path.c_str(), &reader, SQLITE_OPEN_READONLY, nullptr) == SQLITE_OK);
  WalGuard guard = hold(reader);
  BOOST_TEST(guarded_from_outside(path));
  guard.release();
  sqlite3_close(reader);
  sqlite3_close(writer);
}

BOOST_AUTO_TEST_CASE(a_connection_closed_without_release_is_noticed_once) {
  Scratch scratch;
  const std::string path = scratch / "app.db";
  Events events;
  sqlite3* db = open_wal(path);
  WalGuard guard = hold(db);
  sqlite3_close(db);  // wrong order; leaves the sidecars
  std::error_code error;
  BOOST_TEST(!guard.refresh(error));
  BOOST_TEST((error == errc::connection_gone));
  BOOST_TEST(free_from_outside(path));
  guard.release(error);
  BOOST_TEST(!error);
  BOOST_TEST(events.count(EventKind::connection_gone) == 1);
  BOOST_TEST(WalGuard::collect() == 0U);
}

BOOST_AUTO_TEST_CASE(any_call_notices_a_connection_that_is_gone) {
  Scratch scratch;
  const std::string path = scratch / "app.db";
  const std::string other_path = scratch / "other.db";
  sqlite3* other = open_wal(other_path);
  WalGuard other_guard = hold(other);
  sqlite3* db = open_wal(path);
  WalGuard guard = hold(db);
  sqlite3* kept = open_wal(path);
  WalGuard kept_guard = hold(kept);
  sqlite3_close(db);
  other_guard.refresh();
  BOOST_TEST((guard.state() == GuardState::released));
  BOOST_TEST(guarded_from_outside(path));  // the other handle's
  kept_guard.release();
  BOOST_TEST(free_from_outside(path));
  sqlite3_close(kept);
  BOOST_TEST(!exists(path + "-wal"));
  other_guard.release();
  sqlite3_close(other);
}

BOOST_AUTO_TEST_CASE(a_true_last_close_ends_the_generation) {
  Scratch scratch;
  const std::string path = scratch / "app.db";
  sqlite3* db = open_wal(path);
  const FileIdentity file = identity_of(path);
  WalGuard guard = hold(db);
  BOOST_TEST(descriptors(file) == 2);
  guard.release();
  sqlite3_close(db);
  WalGuard::collect();
  BOOST_TEST(!exists(path + "-wal"));
  BOOST_TEST(!exists(path + "-shm"));
  BOOST_TEST(ofd_locks(file) == 0);
  const auto status = WalGuard::status();
  if (in_process_table()) {
    BOOST_TEST(descriptors(file) == 1);
    BOOST_REQUIRE(status.size() == 1U);
    BOOST_TEST(status[0].parked);
    BOOST_TEST(status[0].path == path);
  } else {
    BOOST_TEST(descriptors(file) == 0);
    BOOST_TEST(status.empty());
  }
  BOOST_TEST(foreign(path, {"PRAGMA journal_mode=DELETE"}) == "delete");
}

BOOST_AUTO_TEST_CASE(a_pause_lets_the_journal_mode_change) {
  Scratch scratch;
  const std::string path = scratch / "app.db";
  Events events;
  sqlite3* db = open_wal(path);
  WalGuard guard = hold(db);
  sqlite3_busy_timeout(db, 0);
  BOOST_TEST(value(db, "PRAGMA journal_mode=DELETE").starts_with("error"));
  Pause pause = guard.pause();
  BOOST_TEST((guard.state() == GuardState::paused));
  BOOST_TEST(free_from_outside(path));
  BOOST_TEST(value(db, "PRAGMA journal_mode=DELETE") == "delete");
  BOOST_TEST((pause.resume() == Resumed::unarmed));
  BOOST_TEST((guard.state() == GuardState::unarmed));
  BOOST_TEST(events.count(EventKind::unarmed) == 1);
  BOOST_TEST(value(db, "PRAGMA journal_mode=WAL") == "wal");
  BOOST_TEST(value(db, "SELECT count(*) FROM t") == "1");
  BOOST_TEST(guard.refresh());
  BOOST_TEST(guarded_from_outside(path));
  guard.release();
  sqlite3_close(db);
  BOOST_TEST(!exists(path + "-wal"));
}

BOOST_AUTO_TEST_CASE(a_pause_tells_that_the_generation_changed) {
  Scratch scratch;
  const std::string path = scratch / "app.db";
  Events events;
  sqlite3* db = open_wal(path);
  WalGuard guard = hold(db);
  Pause pause = guard.pause();
  // Pinned, so that the new files cannot have the old numbers.
  Pin wal(path + "-wal");
  BOOST_TEST(value(db, "PRAGMA journal_mode=DELETE") == "delete");
  BOOST_TEST(value(db, "PRAGMA journal_mode=WAL") == "wal");
  BOOST_TEST(value(db, "SELECT count(*) FROM t") == "1");
  BOOST_TEST((pause.resume() == Resumed::new_generation));
  BOOST_TEST(events.count(EventKind::generation_changed) == 1);
  BOOST_TEST(guarded_from_outside(path));
  BOOST_TEST(guard.check().intact());
  guard.release();
  sqlite3_close(db);
}

BOOST_AUTO_TEST_CASE(a_release_in_a_pause_leaves_the_others_guarded) {
  Scratch scratch;
  const std::string path = scratch / "app.db";
  sqlite3* db = open_wal(path);
  WalGuard paused = hold(db);
  WalGuard other = hold(db);
  Pause pause = paused.pause();
  BOOST_TEST(free_from_outside(path));
  paused.release();
  BOOST_TEST(guarded_from_outside(path));
  BOOST_TEST((pause.resume() == Resumed::not_held));
  other.release();
  sqlite3_close(db);
  BOOST_TEST(!exists(path + "-wal"));
}

}  // namespace
