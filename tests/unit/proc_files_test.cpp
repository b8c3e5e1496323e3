// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE proc_files
#ifndef BOOST_TEST_DYN_LINK
#define BOOST_TEST_DYN_LINK
#endif
#include "os/proc_files.hpp"

#include <limits.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "proc_test_support.hpp"

namespace walguard::os {
namespace {

using test::FakeProc;

constexpr std::string_view kPosixLine =
    "lock:\t1: POSIX  ADVISORY  READ 1234 103:12345:86 1073741826 1073742335";
constexpr std::string_view kOfdLine = "lock:\t2: OFDLCK ADVISORY  READ -1 fe:00:86 128 128";

// A record of getdents64.
std::string record(std::string_view name, std::size_t length = 0) {
  std::string bytes(19, '\0');
  bytes += name;
  bytes.resize((bytes.size() + 8) / 8 * 8, '\0');
  const auto stored = static_cast<std::uint16_t>(length == 0 ? bytes.size() : length);
  std::memcpy(bytes.data() + 16, &stored, sizeof stored);
  return bytes;
}

std::multiset<int> own_descriptors() {
  std::multiset<int> seen;
  const int error = visit_own_descriptors([&seen](int fd) {
    seen.insert(fd);
    return true;
  });
  BOOST_TEST(error == 0);
  return seen;
}

std::multiset<int> open_descriptors_below(int limit) {
  std::multiset<int> open;
  for (int fd = 0; fd < limit; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) open.insert(fd);
  }
  return open;
}

class TempFile {
 public:
  TempFile() {
    fd_ = ::mkstemp(path_);
    BOOST_REQUIRE(fd_ >= 0);
  }
  ~TempFile() {
    ::close(fd_);
    ::unlink(path_);
  }
  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] const char* path() const { return path_; }

 private:
  char path_[32] = "/tmp/walguard-files-XXXXXX";
  int fd_ = -1;
};

bool lock_bytes(int fd, int command, short type, off_t start, off_t length) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = start;
  lock.l_len = length;
  return ::fcntl(fd, command, &lock) == 0;
}

std::vector<DescriptorLock> locks_on(int fd) {
  std::vector<DescriptorLock> locks;
  BOOST_TEST(descriptor_locks(fd, locks) == 0);
  return locks;
}

BOOST_AUTO_TEST_CASE(lock_line_gives_every_field) {
  DescriptorLock lock;
  BOOST_TEST(parse_lock_line(kPosixLine, lock));
  BOOST_TEST((lock.kind == LockKind::posix && !lock.write && !lock.waiting));
  BOOST_TEST(lock.pid == 1234);
  BOOST_TEST(lock.file.device == ::makedev(0x103, 0x12345));
  BOOST_TEST(lock.file.inode == 86U);
  BOOST_TEST((lock.range == ByteRange{1073741826, 510}));

  BOOST_TEST(parse_lock_line(kOfdLine, lock));
  BOOST_TEST((lock.kind == LockKind::ofd && !lock.write));
  BOOST_TEST(lock.pid == -1);
  BOOST_TEST((lock.range == ByteRange{128, 1}));
}

BOOST_AUTO_TEST_CASE(lock_lines_of_every_kind_are_known) {
  struct Row {
    std::string_view line;
    LockKind kind;
    bool write;
    bool waiting;
    ByteRange range;
  };
  const Row rows[] = {
      {"lock:\t1: POSIX  ADVISORY  WRITE 7 fe:00:8 0 EOF", LockKind::posix, true, false, {0, 0}},
      {"lock:\t1: POSIX  MANDATORY READ  7 fe:00:8 5 EOF", LockKind::posix, false, false, {5, 0}},
      {"lock:\t1: -> POSIX  ADVISORY  WRITE 7 fe:00:8 1 2", LockKind::posix, true, true, {1, 2}},
      {"lock:\t1:   -> OFDLCK ADVISORY  READ -1 fe:00:8 1 1", LockKind::ofd, false, true, {1, 1}},
      {"lock:\t1: FLOCK  ADVISORY  WRITE 7 fe:00:8 0 EOF", LockKind::flock, true, false, {0, 0}},
      {"lock:\t1: LEASE  ACTIVE    READ 7 fe:00:8 0 EOF", LockKind::lease, false, false, {0, 0}},
      {"lock:\t1: LEASE  BREAKING  UNLCK 7 fe:00:8 0 EOF", LockKind::lease, false, false, {0, 0}},
      {"lock:\t1: DELEG  ACTIVE    READ 0 fe:00:8 0 EOF", LockKind::lease, false, false, {0, 0}},
      {"lock:\t1: POSIX  ADVISORY  READ 7 fe:00:8 0 9223372036854775806",
       LockKind::posix,
       false,
       false,
       {0, INT64_MAX}},
  };
  for (const Row& row : rows) {
    DescriptorLock lock;
    BOOST_TEST(parse_lock_line(row.line, lock), row.line);
    BOOST_TEST((lock.kind == row.kind && lock.write == row.write), row.line);
    BOOST_TEST(lock.waiting == row.waiting, row.line);
    BOOST_TEST((lock.range == row.range && lock.file.inode == 8), row.line);
  }
}

BOOST_AUTO_TEST_CASE(other_lines_are_refused_and_leave_the_output_alone) {
  const std::string_view lines[] = {
      "",
      "lock:",
      "lock:\t",
      "lock:\t1:",
      "lock:\t1: ->",
      "pos:\t0",
      "mnt_id:\t22",
      "1: POSIX  ADVISORY  READ 7 fe:00:8 0 EOF",
      "lock:\tx: POSIX  ADVISORY  READ 7 fe:00:8 0 EOF",
      "lock:\t1 POSIX  ADVISORY  READ 7 fe:00:8 0 EOF",
      "lock:\t1: UNKNOWN UNKNOWN  READ 7 fe:00:8 0 EOF",
      "lock:\t1: ACCESS ADVISORY  READ 7 fe:00:8 0 EOF",
      "lock:\t1: POSIX  ADVISORY  UNLCK 7 fe:00:8 0 EOF",
      "lock:\t1: POSIX  ADVISORY  READ x fe:00:8 0 EOF",
      "lock:\t1: POSIX  ADVISORY  READ 99999999999999999999 fe:00:8 0 EOF",
      "lock:\t1: POSIX  ADVISORY  READ 7 <none>:0 0 EOF",
      "lock:\t1: POSIX  ADVISORY  READ 7 fe:00 0 EOF",
      "lock:\t1: POSIX  ADVISORY  READ 7 fe:00:8x 0 EOF",
      "lock:\t1: POSIX  ADVISORY  READ 7 fe:00:8",
      "lock:\t1: POSIX  ADVISORY  READ 7 fe:00:8 0",
      "lock:\t1: POSIX  ADVISORY  READ 7 fe:00:8 EOF",
      "lock:\t1: POSIX  ADVISORY  READ 7 fe:00:8 0 EOFx",
      "lock:\t1: POSIX  ADVISORY  READ 7 fe:00:8 0 EOF x",
      "lock:\t1: POSIX  ADVISORY  READ 7 fe:00:8 -1 5",
      "lock:\t1: POSIX  ADVISORY  READ 7 fe:00:8 5 4",
      "lock:\t1: POSIX  ADVISORY  READ 7 fe:00:8 0 18446744073709551615",
  };
  for (const std::string_view line : lines) {
    DescriptorLock lock;
    lock.pid = 42;
    BOOST_TEST(!parse_lock_line(line, lock), line);
    BOOST_TEST((lock.pid == 42 && !lock.file.known() && !lock.waiting), line);
  }
}

BOOST_AUTO_TEST_CASE(fdinfo_is_read_whatever_the_chunks) {
  for (const std::size_t chunk : {1, 5, 4096}) {
    FakeProc proc;
    proc.files["/proc/thread-self/fdinfo/9"] = "pos:\t0\nflags:\t0100002\nmnt_id:\t22\n" +
                                               std::string(kPosixLine) + "\n" +
                                               std::string(kOfdLine) + "\n";
    proc.chunk = chunk;
    proc.interrupt = true;
    const std::vector<DescriptorLock> locks = locks_on(9);
    BOOST_REQUIRE(locks.size() == 2U);
    BOOST_TEST((locks.front().kind == LockKind::posix && locks.back().kind == LockKind::ofd));
    BOOST_TEST(proc.all_closed());
    BOOST_TEST(proc.interruptions > 0);
  }
}

BOOST_AUTO_TEST_CASE(failed_calls_give_their_errno_and_leave_the_output_alone) {
  FakeProc proc;
  std::vector<DescriptorLock> locks(3);
  // A closed number of this thread's table is not looked up in the main thread's.
  proc.files["/proc/self/fdinfo/9"] = std::string(kPosixLine) + "\n";
  BOOST_TEST(descriptor_locks(9, locks) == ENOENT);
  proc.files["/proc/thread-self/fdinfo/9"] = std::string(kPosixLine) + "\n";
  proc.files["/proc/thread-self/fd"] = record("4") + record("5");
  proc.chunk = record("4").size();
  proc.fail_read = EIO;
  proc.reads_before_failure = 1;
  BOOST_TEST(descriptor_locks(9, locks) == EIO);
  BOOST_TEST(locks.size() == 3U);
  proc.reads_before_failure = 1;
  int visits = 0;
  BOOST_TEST(visit_own_descriptors([&visits](int) { return ++visits > 0; }) == EIO);
  BOOST_TEST(visits == 1);
  BOOST_TEST(proc.failures == 2);
  BOOST_TEST(proc.all_closed());

  proc.has_thread_self = false;
  proc.files.erase("/proc/thread-self/fdinfo/9");
  proc.fail_read = 0;
  BOOST_TEST(descriptor_locks(9, locks) == 0);
  BOOST_TEST(locks.size() == 1U);
}

BOOST_AUTO_TEST_CASE(listing_takes_numbers_and_leaves_out_its_own) {
  FakeProc proc;
  proc.files["/proc/thread-self/fd"] = record(".") + record("..") + record("0") + record("1001") +
                                       record("12") + record("x") + record("-3") + record("7x") +
                                       record("4294967296") + record("") + record("2147483647");
  proc.interrupt = true;
  const std::multiset<int> expected{0, 12, 2147483647};
  BOOST_TEST((own_descriptors() == expected));
  BOOST_TEST(proc.interruptions > 0);
}

BOOST_AUTO_TEST_CASE(malformed_records_end_the_listing) {
  const std::string good = record("3");
  std::string unterminated = record("345678");
  unterminated.resize(25);
  unterminated[16] = 25;
  BOOST_TEST(unterminated.back() == '8');
  FakeProc proc;
  proc.files["/proc/thread-self/fd"] = unterminated;
  BOOST_TEST((own_descriptors() == std::multiset<int>{345678}));
  for (const std::string& bad : {record("4", 8), record("4", 19), record("4", 25),
                                 record("4", 65535), good.substr(0, 5), good.substr(0, 19)}) {
    proc.files["/proc/thread-self/fd"] = good + bad;
    std::multiset<int> seen;
    BOOST_TEST(visit_own_descriptors([&seen](int fd) { return seen.insert(fd), true; }) == EIO);
    BOOST_TEST((seen == std::multiset<int>{3}));
  }
  BOOST_TEST(proc.all_closed());
}

BOOST_AUTO_TEST_CASE(every_open_descriptor_is_listed_once) {
  const std::multiset<int> open = open_descriptors_below(1024);
  BOOST_TEST((own_descriptors() == open));
  int first = -1;
  BOOST_TEST(visit_own_descriptors([&first](int fd) { return first = fd, false; }) == 0);
  BOOST_TEST(open.count(first) == 1U);
  BOOST_TEST((open_descriptors_below(1024) == open));
}

BOOST_AUTO_TEST_CASE(descriptors_that_stay_are_listed_while_others_come_and_go) {
  // Enough of them that the listing takes several calls.
  std::multiset<int> stay;
  std::vector<int> go;
  struct rlimit limit {};
  BOOST_REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
  for (rlim_t i = 0; i < std::min<rlim_t>(800, limit.rlim_cur / 2); ++i) {
    const int fd = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    BOOST_REQUIRE(fd >= 0);
    if (i % 2 == 0) {
      stay.insert(fd);
    } else {
      go.push_back(fd);
    }
  }
  BOOST_REQUIRE(go.size() > 10U);
  std::multiset<int> seen;
  const int error = visit_own_descriptors([&](int fd) {
    if (stay.count(fd) == 1) seen.insert(fd);
    if (!go.empty()) {
      ::close(go.back());
      go.pop_back();
      if (go.size() % 3 == 0) go.insert(go.begin(), ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3));
    }
    return true;
  });
  BOOST_TEST(error == 0);
  BOOST_TEST((seen == stay));
  for (const int fd : stay) ::close(fd);
  for (const int fd : go) ::close(fd);
}

BOOST_AUTO_TEST_CASE(path_of_a_descriptor_is_the_kernels) {
  const TempFile file;
  char resolved[PATH_MAX];
  BOOST_REQUIRE(::realpath(file.path(), resolved) != nullptr);
  BOOST_TEST(descriptor_path(file.fd()) == resolved);
  ::unlink(file.path());
  BOOST_TEST(descriptor_path(file.fd()) == std::string(resolved) + " (deleted)");
  BOOST_TEST(descriptor_path(-1).empty());
  BOOST_TEST(descriptor_path(INT_MIN).empty());
  BOOST_TEST(descriptor_path(INT_MAX).empty());
}

BOOST_AUTO_TEST_CASE(locks_show_on_the_descriptor_that_took_them) {
  const TempFile file;
  const int other = ::open(file.path(), O_RDWR | O_CLOEXEC);
  BOOST_REQUIRE(other >= 0);
  BOOST_TEST(locks_on(file.fd()).empty());
  BOOST_REQUIRE(lock_bytes(file.fd(), F_SETLK, F_RDLCK, 0x40000002, 510));
  BOOST_REQUIRE(lock_bytes(other, F_OFD_SETLK, F_WRLCK, 120, 0x100));

  const std::vector<DescriptorLock> posix = locks_on(file.fd());
  BOOST_REQUIRE(posix.size() == 1U);
  BOOST_TEST((posix[0].kind == LockKind::posix && !posix[0].write && !posix[0].waiting));
  BOOST_TEST((posix[0].range == ByteRange{0x40000002, 510}));
  char self[32] = {};  // the pid as this /proc numbers it
  BOOST_REQUIRE(::readlink("/proc/self", self, sizeof self - 1) > 0);
  BOOST_TEST(posix[0].pid == std::atol(self));

  const std::vector<DescriptorLock> ofd = locks_on(other);
  BOOST_REQUIRE(ofd.size() == 1U);
  BOOST_TEST((ofd[0].kind == LockKind::ofd && ofd[0].write && ofd[0].pid == -1));
  BOOST_TEST((ofd[0].range == ByteRange{120, 0x100}));

  // Closing any descriptor of the file drops the POSIX locks.
  ::close(other);
  BOOST_TEST(locks_on(file.fd()).empty());
  BOOST_REQUIRE(lock_bytes(file.fd(), F_OFD_SETLK, F_RDLCK, 7, 0));
  const std::vector<DescriptorLock> open_ended = locks_on(file.fd());
  BOOST_REQUIRE(open_ended.size() == 1U);
  BOOST_TEST((open_ended[0].range == ByteRange{7, 0}));
  std::vector<DescriptorLock> none;
  BOOST_TEST(descriptor_locks(other, none) == ENOENT);
}

BOOST_AUTO_TEST_CASE(identity_of_a_lock_is_that_of_fstat) {
  // A memfd: on a disk, st_dev and the kernel's device may differ.
  const int fd = ::memfd_create("walguard", MFD_CLOEXEC);
  BOOST_REQUIRE(fd >= 0);
  struct stat expected {};
  BOOST_REQUIRE(::fstat(fd, &expected) == 0);
  BOOST_REQUIRE(::flock(fd, LOCK_EX) == 0);
  const std::vector<DescriptorLock> locks = locks_on(fd);
  BOOST_REQUIRE(locks.size() == 1U);
  BOOST_TEST((locks[0].kind == LockKind::flock && locks[0].write));
  BOOST_TEST((locks[0].range == ByteRange{0, 0}));
  BOOST_TEST(locks[0].file.device == expected.st_dev);
  BOOST_TEST(locks[0].file.inode == expected.st_ino);
  ::close(fd);
}

BOOST_AUTO_TEST_CASE(thread_with_its_own_table_sees_that_table) {
  const TempFile file;
  BOOST_REQUIRE(lock_bytes(file.fd(), F_OFD_SETLK, F_RDLCK, 0, 1));
  int unshared = -1;
  int locks_error = -1;
  std::string path = "unknown";
  std::multiset<int> seen;
  std::thread([&] {
    unshared = sys().unshare_descriptors();
    if (unshared != 0) return;
    (void)visit_own_descriptors([&seen](int fd) { return seen.insert(fd), true; });
    std::vector<DescriptorLock> locks;
    locks_error = descriptor_locks(file.fd(), locks);
    path = descriptor_path(file.fd());
  }).join();
  if (unshared != 0) {
    BOOST_TEST_MESSAGE("skipped: this system refuses a descriptor table of its own");
    return;
  }
  BOOST_TEST((seen == std::multiset<int>{0, 1, 2}));
  BOOST_TEST(locks_error == ENOENT);
  BOOST_TEST(path == "");
  BOOST_TEST(locks_on(file.fd()).size() == 1U);
}

BOOST_AUTO_TEST_CASE(mutated_lock_lines_are_parsed_within_bounds) {
  test::LineMutator mutate;
  int accepted = 0;
  for (int i = 0; i < test::kMutatedLines; ++i) {
    const test::ExactCopy line(mutate(i % 2 == 0 ? kPosixLine : kOfdLine));
    DescriptorLock lock;
    if (!parse_lock_line(line.view(), lock)) continue;
    ++accepted;
    const bool sound = lock.range.offset <= INT64_MAX && lock.range.length <= INT64_MAX;
    if (!sound) BOOST_ERROR("unsound: " << line.view());
  }
  BOOST_TEST(accepted > 1000);
  BOOST_TEST(accepted < test::kMutatedLines);
}

BOOST_AUTO_TEST_CASE(mutated_listings_are_parsed_within_bounds) {
  const std::string good = record("3") + record("14") + record("159");
  FakeProc proc;
  std::mt19937 random(20240229);
  int refused = 0;
  for (int i = 0; i < test::kMutatedLines / 10; ++i) {
    std::string& listing = proc.files["/proc/thread-self/fd"] = good;
    listing[random() % good.size()] = static_cast<char>(random());
    listing.resize(listing.size() - random() % 4);
    const int error = visit_own_descriptors([](int fd) { return fd >= 0; });
    refused += error == EIO ? 1 : 0;
  }
  BOOST_TEST(refused > 100);
  BOOST_TEST(refused < test::kMutatedLines / 10);
  BOOST_TEST(proc.all_closed());
}

}  // namespace
}  // namespace walguard::os
