// SPDX-License-Identifier: MIT
// Two connections of one database in every order of their steps, seen from outside.
#define BOOST_TEST_MODULE orders
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

// One connection's steps: o(pen), h(old), r(elease), c(lose).
struct Actor {
  std::string path;
  std::string steps;
  std::size_t done = 0;
  sqlite3* db = nullptr;
  WalGuard guard;
  bool held = false;  // and the connection open

  void step() {
    switch (steps.at(done++)) {
      case 'o':
        BOOST_REQUIRE(sqlite3_open(path.c_str(), &db) == SQLITE_OK);
        BOOST_REQUIRE(value(db, "SELECT count(*) FROM t") == "1");
        break;
      case 'h':
        guard = hold(db);
        held = true;
        break;
      case 'r':
        guard.release();
        held = false;
        break;
      case 'c':
        BOOST_REQUIRE(sqlite3_close(db) == SQLITE_OK);
        db = nullptr;
        held = false;
        break;
      default: BOOST_FAIL("no such step");
    }
  }
};

// `order` says whose turn it is: 'a' or 'b'.
void play(const std::string& order, const std::string& a_steps, const std::string& b_steps) {
  BOOST_TEST_CONTEXT("a=" << a_steps << " b=" << b_steps << " order=" << order) {
    Scratch scratch;
    const std::string path = scratch / "app.db";
    sqlite3_close(open_wal(path));
    Actor a{.path = path, .steps = a_steps, .guard = {}};
    Actor b{.path = path, .steps = b_steps, .guard = {}};
    for (const char turn : order) {
      (turn == 'a' ? a : b).step();
      WalGuard::collect();  // a wrong order is noticed by the next call
      const int wanted = a.held || b.held ? 1 : 0;
      BOOST_TEST(ofd_locks(identity_of(path)) == wanted);
      if (exists(path + "-shm")) BOOST_TEST(ofd_locks(identity_of(path + "-shm")) == wanted);
    }
    BOOST_TEST(foreign(path, {"PRAGMA journal_mode=DELETE"}) == "delete");
    BOOST_TEST(foreign(path, {"SELECT count(*) FROM t"}) == "1");
    BOOST_TEST(!exists(path + "-wal"));
    BOOST_TEST(!exists(path + "-shm"));
  }
}

// Every order, or every `stride`-th of them in a short run.
void play_all(const std::string& a_steps, const std::string& b_steps, int stride = 1) {
  std::string order = std::string(a_steps.size(), 'a') + std::string(b_steps.size(), 'b');
  int number = 0;
  do {
    if (long_run() || number++ % stride == 0) play(order, a_steps, b_steps);
  } while (std::next_permutation(order.begin(), order.end()));
}

BOOST_AUTO_TEST_CASE(any_order_of_two_connections_is_guarded_while_one_is_held) {
  play_all("ohrc", "ohrc");
}

BOOST_AUTO_TEST_CASE(any_order_with_a_reopened_connection_is_guarded_while_one_is_held) {
  play_all("ohrcohrc", "ohrc", 11);
}

BOOST_AUTO_TEST_CASE(any_order_with_a_close_before_its_release_leaves_no_lock) {
  play_all("ohcr", "ohrc", 5);
  play_all("ohcr", "ohcr", 5);
}

BOOST_AUTO_TEST_CASE(a_healed_stray_is_one_event_and_counted) {
  Scratch scratch;
  const std::string path = scratch / "app.db";
  std::vector<Event> healed;
  const auto sink = add_event_sink([&](const Event& event) {
    if (event.kind == EventKind::locks_healed) healed.push_back(event);
  });
  sqlite3* db = open_wal(path);
  WalGuard guard = hold(db);
  WalGuard second = hold(db);
  for (unsigned round = 1; round <= 3; ++round) {
    stray(path);
    stray(path + "-shm");
    BOOST_TEST(guard.refresh());
    BOOST_TEST(second.refresh());  // finds nothing to do any more
    BOOST_TEST(healed.size() == round);
    BOOST_TEST(WalGuard::status().at(0).locks_healed == round);
  }
  BOOST_TEST(healed.at(0).path == path);
  BOOST_TEST(!healed.at(0).message.empty());
  remove_event_sink(sink);
  second.release();
  guard.release();
  sqlite3_close(db);
}

// As before a suspension: meanwhile others come and go, and SQLite's own locks do.
BOOST_AUTO_TEST_CASE(a_pause_lets_others_come_and_go_and_keeps_the_generation) {
  Scratch scratch;
  const std::string path = scratch / "app.db";
  sqlite3* db = open_wal(path);
  WalGuard guard = hold(db);
  const Pin wal(path + "-wal");
  const Pin shm(path + "-shm");
  for (int round = 0; round < 3; ++round) {
    Pause pause = guard.pause();
    BOOST_TEST(ofd_locks(identity_of(path)) == 0);
    BOOST_TEST(ofd_locks(identity_of(path + "-shm")) == 0);
    BOOST_TEST(foreign(path, {"INSERT INTO t VALUES(1)", "PRAGMA wal_checkpoint(TRUNCATE)"}) ==
               "0");
    BOOST_TEST((pause.resume() == Resumed::same_generation));
    BOOST_TEST(ofd_locks(identity_of(path)) == 1);
    BOOST_TEST(ofd_locks(identity_of(path + "-shm")) == 1);
  }
  BOOST_TEST(wal.still_at_path());
  BOOST_TEST(shm.still_at_path());
  BOOST_TEST(value(db, "SELECT count(*) FROM t") == "4");
  guard.release();
  sqlite3_close(db);
  BOOST_TEST(!exists(path + "-wal"));
}

// A stray before the pause must not let the visitor in it delete the files.
BOOST_AUTO_TEST_CASE(a_pause_heals_before_it_unlocks) {
  Scratch scratch;
  const std::string path = scratch / "app.db";
  sqlite3* db = open_wal(path);
  WalGuard guard = hold(db);
  const Pin wal(path + "-wal");
  stray(path);
  stray(path + "-shm");
  Pause pause = guard.pause();
  BOOST_TEST(posix_locks(identity_of(path), ::getpid()) == 1);
  BOOST_TEST(posix_locks(identity_of(path + "-shm"), ::getpid()) == 1);
  BOOST_TEST(foreign(path, {"SELECT count(*) FROM t"}) == "1");
  BOOST_TEST(wal.still_at_path());
  BOOST_TEST((pause.resume() == Resumed::same_generation));
  guard.release();
  sqlite3_close(db);
  BOOST_TEST(!exists(path + "-wal"));
}

}  // namespace
