// SPDX-License-Identifier: MIT
#include "subjects.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>

namespace bench {
namespace {

constexpr off_t kShared = 0x40000002;
constexpr off_t kDeadmanSwitch = 128;

int lock(int fd, int command, short type, off_t start, off_t length) {
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = start;
  range.l_len = length;
  return ::fcntl(fd, command, &range);
}

int open_file(const std::string& name, int flags) {
  const int fd = ::open(name.c_str(), flags | O_CLOEXEC, 0600);
  if (fd < 0) give_up("open " + name);
  return fd;
}

void read_maps() {
  const int maps = open_file("/proc/self/maps", O_RDONLY);
  char buffer[4096];
  while (::read(maps, buffer, sizeof buffer) > 0) {
  }
  ::close(maps);
}

void list_descriptors() {
  const int listing = open_file("/proc/self/fd", O_RDONLY | O_DIRECTORY);
  char buffer[4096];
  for (;;) {
    const long size = ::syscall(SYS_getdents64, listing, buffer, sizeof buffer);
    if (size <= 0) break;
    for (long at = 0; at < size;) {
      unsigned short length = 0;
      std::memcpy(&length, buffer + at + 16, sizeof length);
      struct stat info {};
      const char* name = buffer + at + 19;
      if (*name != '.') (void)::fstat(std::atoi(name), &info);
      at += length;
    }
  }
  ::close(listing);
}

void trivial_read(sqlite3* db) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(db, "PRAGMA schema_version", -1, &statement, nullptr) != SQLITE_OK ||
      sqlite3_step(statement) != SQLITE_ROW) {
    give_up("a trivial read");
  }
  sqlite3_finalize(statement);
}

}  // namespace

void give_up(const std::string& what) {
  std::fprintf(stderr, "walguard-bench: %s failed: %s\n", what.c_str(), std::strerror(errno));
  std::exit(2);
}

Directory::Directory(const std::string& above) {
  std::string name = above + "/walguard-bench-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) give_up("mkdtemp " + name);
  path_ = name;
}
Directory::~Directory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Database::Database(std::string path) : path_(std::move(path)) {
  if (sqlite3_open(path_.c_str(), &db_) != SQLITE_OK) give_up("sqlite3_open " + path_);
  exec("PRAGMA synchronous=OFF");
  exec("PRAGMA journal_mode=WAL");
  exec("CREATE TABLE IF NOT EXISTS t(x)");
  exec("INSERT INTO t VALUES(1)");
  exec("PRAGMA synchronous=NORMAL");
}
Database::~Database() {
  if (db_ != nullptr) sqlite3_close(db_);
}
Database::Database(Database&& other) noexcept
    : path_(std::move(other.path_)), db_(std::exchange(other.db_, nullptr)) {}
void Database::exec(const char* sql) {
  if (sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) != SQLITE_OK) {
    give_up(std::string(sql) + ": " + sqlite3_errmsg(db_));
  }
}

Crowd::Crowd(int count) {
  const int first = open_file("/dev/null", O_RDONLY);
  numbers_.push_back(first);
  while (static_cast<int>(numbers_.size()) < count) {
    const int fd = ::dup(first);
    if (fd < 0) give_up("dup");
    numbers_.push_back(fd);
  }
}
Crowd::~Crowd() {
  for (const int fd : numbers_) ::close(fd);
}

Floor::Floor(const Directory& directory) {
  const char* suffixes[] = {"", "-wal", "-shm"};
  for (int i = 0; i < 3; ++i) {
    names_[i] = directory.file(std::string("floor.db") + suffixes[i]);
    fds_[i] = open_file(names_[i], O_RDWR | O_CREAT);
  }
}

void Floor::first_hold(sqlite3* reader) const {
  struct stat info {};
  int fds[3];
  for (int i = 0; i < 3; ++i) (void)::stat(names_[i].c_str(), &info);
  trivial_read(reader);
  read_maps();
  list_descriptors();
  for (int i = 0; i < 3; ++i) {
    fds[i] = open_file(names_[i], O_RDWR);
    (void)::fstat(fds[i], &info);
  }
  (void)lock(fds[0], F_OFD_SETLK, F_RDLCK, kShared, 510);
  (void)lock(fds[2], F_OFD_SETLK, F_RDLCK, kDeadmanSwitch, 1);
  // The probe.
  const int one = open_file(names_[0], O_RDONLY);
  const int two = open_file(names_[0], O_RDONLY);
  (void)lock(one, F_OFD_SETLK, F_RDLCK, kShared + 1024, 1);
  (void)lock(two, F_OFD_GETLK, F_WRLCK, kShared + 1024, 1);
  (void)lock(one, F_OFD_SETLK, F_UNLCK, kShared + 1024, 1);
  ::close(one);
  ::close(two);
  for (const int fd : fds) ::close(fd);
}

void Floor::hold_again() const {
  struct stat info {};
  for (const std::string& name : names_) (void)::stat(name.c_str(), &info);
  (void)lock(fds_[0], F_OFD_SETLK, F_RDLCK, kShared, 510);
  (void)lock(fds_[2], F_OFD_SETLK, F_RDLCK, kDeadmanSwitch, 1);
}

void raise_descriptor_limit(unsigned long wanted) {
  struct rlimit limit {};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = wanted;
  if (limit.rlim_max < wanted) limit.rlim_max = wanted;
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) give_up("raising RLIMIT_NOFILE");
}

long resident_kib() {
  std::ifstream statm("/proc/self/statm");
  long size = 0;
  long resident = 0;
  statm >> size >> resident;
  return resident * (::sysconf(_SC_PAGESIZE) / 1024);
}

long keeper_descriptors() {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream comm(task.path() / "comm");
    std::string name;
    comm >> name;
    if (name != "walguard") continue;
    long count = 0;
    for ([[maybe_unused]] const auto& entry :
         std::filesystem::directory_iterator(task.path() / "fd")) {
      ++count;
    }
    return count;
  }
  return -1;
}

}  // namespace bench
