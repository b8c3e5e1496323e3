// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE fault_sweep
#define BOOST_TEST_NO_MAIN
#include <sqlite3.h>
#include <unistd.h>

#include <atomic>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <functional>

#include "os/syscalls.hpp"
#include "processes.hpp"
#include "walguard/host_sqlite.hpp"

namespace {

using namespace walguard;
using namespace walguard::test;

// Lets call number `at` fail once, whichever it is; both threads of the library count.
std::atomic<int> calls{0};
std::atomic<int> at{0};
std::atomic<int> fired{0};
std::atomic<int> how{EIO};

bool strikes() {
  if (at.load() == 0 || calls.fetch_add(1) + 1 != at.load()) return false;
  fired.fetch_add(1);
  errno = how.load();
  return true;
}

os::Syscalls failing_table() {
  static const os::Syscalls& real = os::real_syscalls();
  os::Syscalls table = real;
  table.open = [](const char* path, int flags, unsigned mode) {
    return strikes() ? -1 : real.open(path, flags, mode);
  };
  table.close = [](int fd) {
    real.close(fd);  // as Linux does: the number is free whatever it says
    return strikes() ? -1 : 0;
  };
  table.read = [](int fd, void* buffer, std::size_t size) {
    return strikes() ? -1 : real.read(fd, buffer, size);
  };
  table.fstat = [](int fd, struct stat* out) { return strikes() ? -1 : real.fstat(fd, out); };
  table.stat = [](const char* path, struct stat* out) {
    return strikes() ? -1 : real.stat(path, out);
  };
  table.fcntl_lock = [](int fd, int command, struct flock* lock) {
    return strikes() ? -1 : real.fcntl_lock(fd, command, lock);
  };
  table.getdents = [](int fd, void* buffer, std::size_t size) {
    return strikes() ? -1 : real.getdents(fd, buffer, size);
  };
  table.readlink = [](const char* path, char* buffer, std::size_t size) {
    return strikes() ? -1 : real.readlink(path, buffer, size);
  };
  table.realpath = [](const char* path, char* resolved) {
    return strikes() ? nullptr : real.realpath(path, resolved);
  };
  table.ioctl = [](int fd, unsigned long request, void* argument) {
    return strikes() ? -1 : real.ioctl(fd, request, argument);
  };
  table.compare_files = [](pid_t a, pid_t b) { return strikes() ? -1 : real.compare_files(a, b); };
  return table;
}

const os::Syscalls kFailing = failing_table();

struct Subject {
  Scratch scratch;
  // Keeps the keeper running, so that each sweep sees the same calls.
  sqlite3* other = open_wal(scratch / "other.db");
  WalGuard other_guard = hold(other);
  std::string path = scratch / "app.db";
  sqlite3* db = open_wal(path);
  FileIdentity file = identity_of(path);
  FileIdentity shm = identity_of(path + "-shm");

  ~Subject() {
    sqlite3_close(db);
    other_guard.release();
    sqlite3_close(other);
    WalGuard::collect();
  }

  // No lock, no descriptor, no count. In the process's table one descriptor of each file may be
  // parked, without a lock.
  void expect_nothing_left() {
    BOOST_TEST(ofd_locks(file) == 0);
    BOOST_TEST(ofd_locks(shm) == 0);
    const int spare = in_process_table() ? 1 : 0;
    BOOST_TEST(descriptors(file) <= 1 + spare);
    BOOST_TEST(descriptors(shm) <= 1 + spare);
    for (const FileStatus& line : WalGuard::status()) {
      if (line.path == path) BOOST_TEST(line.parked);
    }
    // SQLite's own locks are whole: no close of ours was a stray.
    BOOST_TEST(posix_locks(file, ::getpid()) == 1);
    BOOST_TEST(posix_locks(shm, ::getpid()) == 1);
  }
};

// Runs the operation with its first, second, ... call failing, until none is left to fail.
int sweep(const std::function<void()>& before, const std::function<void()>& operation,
          const std::function<void()>& after) {
  os::replace_syscalls(kFailing);
  int position = 0;
  for (;;) {
    before();
    fired = 0;
    calls = 0;
    at = ++position;
    try {
      operation();
    } catch (const Error& error) {
      BOOST_TEST((error.code().category() == error_category()));
    }
    at = 0;
    const bool struck = fired.load() == 1;
    after();
    if (!struck) break;
    BOOST_REQUIRE(position < 1000);
  }
  os::replace_syscalls(os::real_syscalls());
  return position - 1;
}

const std::vector<int> kErrors{EIO, EMFILE, EACCES, EINTR};

BOOST_DATA_TEST_CASE(a_failing_call_in_hold_leaves_nothing, boost::unit_test::data::make(kErrors)) {
  how = sample;
  Subject subject;
  WalGuard guard;
  const int swept = sweep(
      [] {}, [&] { guard = hold(subject.db, "main", {.timeout = std::chrono::milliseconds(0)}); },
      [&] {
        if (guard.state() == GuardState::guarded) {
          BOOST_TEST(ofd_locks(subject.file) == 1);
          BOOST_TEST(ofd_locks(subject.shm) == 1);
        }
        guard.release();
        subject.expect_nothing_left();
      });
  BOOST_TEST(swept >= 10);  // otherwise the sweep missed the operation
}

BOOST_DATA_TEST_CASE(a_failing_call_in_hold_by_path_leaves_nothing,
                     boost::unit_test::data::make(kErrors)) {
  how = sample;
  Subject subject;
  WalGuard guard;
  const int swept = sweep(
      [] {},
      [&] { guard = WalGuard::hold_path(subject.path, {.timeout = std::chrono::milliseconds(0)}); },
      [&] {
        guard.release();
        subject.expect_nothing_left();
      });
  BOOST_TEST(swept >= 10);
}

BOOST_DATA_TEST_CASE(a_failing_call_in_a_second_hold_keeps_the_first,
                     boost::unit_test::data::make(kErrors)) {
  how = sample;
  Subject subject;
  WalGuard first = hold(subject.db);
  WalGuard second;
  const int swept = sweep(
      [] {}, [&] { second = hold(subject.db, "main", {.timeout = std::chrono::milliseconds(0)}); },
      [&] {
        second.release();
        std::error_code error;
        BOOST_TEST(first.refresh(error));
        BOOST_TEST(!error);
        BOOST_TEST(ofd_locks(subject.file) == 1);
        BOOST_TEST(ofd_locks(subject.shm) == 1);
      });
  BOOST_TEST(swept >= 5);
  first.release();
  subject.expect_nothing_left();
}

BOOST_DATA_TEST_CASE(a_failing_call_in_refresh_keeps_the_guard,
                     boost::unit_test::data::make(kErrors)) {
  how = sample;
  Subject subject;
  WalGuard guard = hold(subject.db);
  const int swept = sweep(
      [&] {
        stray(subject.path);
        stray(subject.path + "-shm");
      },
      [&] { guard.refresh(); },
      [&] {
        // EACCES is also how a lock is refused: then somebody excludes us.
        if (how != EACCES) BOOST_TEST((guard.state() == GuardState::guarded));
        BOOST_TEST(guard.refresh());
        BOOST_TEST(ofd_locks(subject.file) == 1);
        BOOST_TEST(posix_locks(subject.file, ::getpid()) == 1);
        BOOST_TEST(posix_locks(subject.shm, ::getpid()) == 1);
      });
  BOOST_TEST(swept >= 7);
  guard.release();
  subject.expect_nothing_left();
}

BOOST_DATA_TEST_CASE(a_failing_call_in_release_leaves_nothing,
                     boost::unit_test::data::make(kErrors)) {
  how = sample;
  Subject subject;
  WalGuard guard;
  const int swept = sweep([&] { guard = hold(subject.db); }, [&] { guard.release(); },
                          [&] { subject.expect_nothing_left(); });
  BOOST_TEST(swept >= 5);
}

BOOST_DATA_TEST_CASE(a_failing_call_in_a_pause_leaves_nothing,
                     boost::unit_test::data::make(kErrors)) {
  how = sample;
  Subject subject;
  WalGuard guard;
  const int swept = sweep([&] { guard = hold(subject.db); },
                          [&] {
                            Pause pause = guard.pause();
                            BOOST_TEST(ofd_locks(subject.file) == 0);
                            pause.resume();
                          },
                          [&] {
                            std::error_code error;
                            guard.refresh(error);  // what a failed resume left undone
                            BOOST_TEST(!error);
                            BOOST_TEST(ofd_locks(subject.file) == 1);
                            guard.release();
                            subject.expect_nothing_left();
                          });
  BOOST_TEST(swept >= 5);
}

BOOST_DATA_TEST_CASE(a_failing_call_in_check_changes_nothing,
                     boost::unit_test::data::make(kErrors)) {
  how = sample;
  Subject subject;
  WalGuard guard = hold(subject.db);
  const int swept = sweep([] {}, [&] { (void)guard.check(); },
                          [&] {
                            BOOST_TEST((guard.state() == GuardState::guarded));
                            BOOST_TEST(guard.check().intact());
                          });
  BOOST_TEST(swept >= 3);
  guard.release();
  subject.expect_nothing_left();
}

}  // namespace
