// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE fork
#define BOOST_TEST_NO_MAIN
#define BOOST_TEST_NO_MAIN
#include <signal.h>
#include <sqlite3.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <string>

#include <walguard/host_sqlite.hpp>

#include "processes.hpp"

namespace walguard::test {
namespace {

// What the destructors of a program that calls exit() find.
WalGuard& program_guard() {
  static WalGuard guard;
  return guard;
}

pid_t fork_by(const std::string& way) {
#if defined(__linux__)
  if (way == "clone") return static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
#endif
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 34)
  if (way == "_Fork") return ::_Fork();
#endif
  return ::fork();
}

// Returns an exit code: 0 when the guard behaved as it must in a child.
int act_in_child(const std::string& action, const std::string& path) {
  WalGuard& guard = program_guard();
  if (action == "release") {
    std::error_code error;
    guard.release(error);
    return error ? 1 : 0;
  }
  if (action == "refresh") return guard.refresh() ? 2 : 0;
  if (action == "destroy") {
    WalGuard ended(std::move(guard));
    return ended.state() == GuardState::inert ? 0 : 3;
  }
  if (action == "look") {
    const bool nothing = guard.check().verdict == Verdict::not_held && WalGuard::status().empty();
    return nothing && guard.state() == GuardState::inert ? 0 : 4;
  }
  if (action == "hold") {
    sqlite3* db = open_wal(path + ".other");
    WalGuard own = hold(db);
    const bool guarded = own.state() == GuardState::guarded;
    own.release();
    return sqlite3_close(db) == SQLITE_OK && guarded ? 0 : 5;
  }
  return 0;
}

const RegisterRole app_role("app", [](const std::vector<std::string>& arguments) {
  const std::string& path = arguments.at(0);
  const std::string& way = arguments.at(1);
  const std::string& action = arguments.at(2);
  sqlite3* db = open_wal(path);
  program_guard() = hold(db);
  const pid_t child = fork_by(way);
  if (child == 0) {
    ::alarm(60);
    const int code = act_in_child(action, path);
    if (action == "_exit") ::_exit(code);
    if (action == "exit") std::exit(code);
    answer("child " + std::to_string(code));
    for (;;) ::pause();  // lives on
  }
  if (action == "_exit" || action == "exit") {
    int status = 0;
    ::waitpid(child, &status, 0);
    answer("child " + std::to_string(WEXITSTATUS(status)));
  }
  answer("pid " + std::to_string(child));
  while (next_order() == "stray") {
    stray(path);
    stray(path + "-shm");
    answer("strayed");
  }
  return 0;
});

const std::string kActions[] = {"live",    "exit", "_exit", "release",
                                "refresh", "look", "hold",  "destroy"};

void expect_unharmed_parent(const std::string& way, const std::string& action) {
  const Scratch scratch;
  const std::string path = scratch / "a.db";
  Process app("app", {path, way, action});
  std::string said[] = {app.line(), app.line()};  // from two processes, in any order
  if (said[0].starts_with("pid")) std::swap(said[0], said[1]);
  BOOST_TEST(said[0] == "child 0");
  BOOST_REQUIRE(said[1].starts_with("pid "));
  const pid_t child = std::stoi(said[1].substr(4));

  {
    const Pin wal(path + "-wal");
    const Pin shm(path + "-shm");
    app.say("stray");
    BOOST_TEST(app.line() == "strayed");
    BOOST_TEST(ofd_locks(identity_of(path)) == 1);
    BOOST_TEST(ofd_locks(identity_of(path + "-shm")) == 1);
    BOOST_TEST(foreign(path, {"SELECT count(*) FROM t"}) == "1");
    BOOST_TEST(wal.still_at_path());
    BOOST_TEST(shm.still_at_path());
  }
  BOOST_TEST(foreign(path, {"PRAGMA journal_mode=DELETE"}) != "delete");

  app.kill();
  BOOST_TEST(ofd_locks(identity_of(path)) == 0);
  BOOST_TEST(ofd_locks(identity_of(path + "-shm")) == 0);
  BOOST_TEST(foreign(path, {"PRAGMA journal_mode=DELETE"}) == "delete");
  BOOST_TEST(foreign(path, {"SELECT count(*) FROM t"}) == "1");
  if (action != "exit" && action != "_exit") {
    BOOST_TEST(::kill(child, SIGKILL) == 0);  // it was there all the time
  }
}

boost::test_tools::assertion_result handlers_not_needed(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result result(!in_process_table());
  result.message() << "descriptors in the process's table reach a child without fork handlers";
  return result;
}

}  // namespace

BOOST_DATA_TEST_CASE(forked_child_changes_nothing_and_pins_nothing_after_its_parent,
                     boost::unit_test::data::make(kActions), action) {
  expect_unharmed_parent("fork", action);
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(handlers_not_needed))
BOOST_DATA_TEST_CASE(child_without_fork_handlers_changes_nothing_and_pins_nothing,
                     boost::unit_test::data::make({"_Fork", "clone"}) *
                         boost::unit_test::data::make(kActions),
                     way, action) {
  expect_unharmed_parent(way, action);
}

}  // namespace walguard::test
