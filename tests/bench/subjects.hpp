// SPDX-License-Identifier: MIT
#pragma once

#include <sqlite3.h>

#include <filesystem>
#include <string>
#include <vector>

namespace bench {

// Ends the program with a message: nothing can be measured then.
[[noreturn]] void give_up(const std::string& what);

// A directory of its own that goes with the object.
class Directory {
 public:
  explicit Directory(const std::string& above);
  ~Directory();
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

// A database in WAL mode with one table t(x), synchronous=NORMAL, its -shm mapped.
class Database {
 public:
  explicit Database(std::string path);
  ~Database();
  Database(Database&& other) noexcept;
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  [[nodiscard]] sqlite3* get() const noexcept { return db_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  void exec(const char* sql);

 private:
  std::string path_;
  sqlite3* db_ = nullptr;
};

// Idle descriptors, so that the process has at least `count` of them while this lives.
class Crowd {
 public:
  explicit Crowd(int count);
  ~Crowd();
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

 private:
  std::vector<int> numbers_;
};

// The system calls that a first hold with the last release cannot do without, on files that SQLite
// has not open (closing one of its own would cancel its locks).
class Floor {
 public:
  explicit Floor(const Directory& directory);
  void first_hold(sqlite3* reader) const;
  void hold_again() const;  // 2 F_OFD_SETLK, 3 stat

 private:
  std::string names_[3];
  int fds_[3];
};

void raise_descriptor_limit(unsigned long wanted);
[[nodiscard]] long resident_kib();
// How many descriptors the guard's own thread has, -1 when there is no such thread.
[[nodiscard]] long keeper_descriptors();

}  // namespace bench
