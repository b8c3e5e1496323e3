// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "walguard/generation.hpp"

struct sqlite3;

// Other processes and what the kernel shows of locks and descriptors. A test program that includes
// this has no main() of its own: processes.cpp gives it one, which runs a role instead of the tests
// when it is started by Process.
namespace walguard::test {

// A part that the test program plays when it is started again: its name and what it does.
using Role = std::function<int(const std::vector<std::string>& arguments)>;
struct RegisterRole {
  RegisterRole(const char* name, Role role);
};

// A fresh process in a role, with pipes to its standard input and output. Killed when it is still
// there at the end. Every wait has a watchdog that fails the test.
class Process {
 public:
  Process(const std::string& role, const std::vector<std::string>& arguments);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  [[nodiscard]] std::string line();  // of its output; empty at the end
  void say(const std::string& line);
  void kill();               // SIGKILL, and waits for the end
  [[nodiscard]] int wait();  // exit status, or 1000 + the signal
  [[nodiscard]] int pid() const noexcept { return pid_; }

 private:
  int pid_ = -1;
  int to_ = -1;
  int from_ = -1;
  std::string buffer_;
};

// For roles.
void answer(const std::string& line);
[[nodiscard]] std::string next_order();  // empty when the test has gone

// Opens the database in another process, runs the statements, closes. What the last one gave in
// its first column, or "error N".
[[nodiscard]] std::string foreign(const std::string& path, const std::vector<std::string>& sql);

// A folder that goes with everything in it.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// A connection in WAL mode with a table t(x), made if need be.
[[nodiscard]] sqlite3* open_wal(const std::string& path);
// SQLITE_OK or the error.
int exec(sqlite3* db, const std::string& sql);
[[nodiscard]] std::string value(sqlite3* db, const std::string& sql);

// Opens and closes the file as careless code does.
void stray(const std::string& path);

[[nodiscard]] FileIdentity identity_of(const std::string& path);  // not known() when not there
[[nodiscard]] bool exists(const std::string& path);

// An O_PATH descriptor, so that no other file can get the inode number meanwhile.
class Pin {
 public:
  explicit Pin(const std::string& path);
  ~Pin();
  Pin(const Pin&) = delete;
  Pin& operator=(const Pin&) = delete;
  [[nodiscard]] bool still_at_path() const;

 private:
  std::string path_;
  int fd_;
};

// Lines of /proc/locks on that inode.
[[nodiscard]] int ofd_locks(FileIdentity file);
[[nodiscard]] int posix_locks(FileIdentity file, int pid);
// Descriptors on the file in every descriptor table of the process, the keeper's included.
[[nodiscard]] int descriptors(FileIdentity file);

[[nodiscard]] bool in_process_table();  // WALGUARD_DESCRIPTORS=process
[[nodiscard]] bool long_run();          // WALGUARD_TEST_LONG=1

}  // namespace walguard::test
