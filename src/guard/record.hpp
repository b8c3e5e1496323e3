// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "walguard/generation.hpp"

namespace walguard::guard {

class Handle;

struct Paths {
  std::string db;
  std::string wal;
  std::string shm;
};

// SQLite's own descriptor numbers, in the application's table. Remembered, never trusted: each use
// checks by fstat that the number is still that file. Never closed by us.
struct SqliteDescriptors {
  int db = -1;
  int wal = -1;
  int shm = -1;
};

// The guard's own descriptors, numbers in the private table. Plain numbers without a destructor:
// only the code in arming.cpp may close one, since closing is the very fault we guard against, and
// a forked child, which inherits the object, must do nothing with them.
struct PrivateSet {
  int db = -1;
  int wal = -1;  // O_PATH: only pins the inode number
  int shm = -1;
  bool shm_read_only = false;
};

// What one database inode needs in this process. Guarded by the registry's mutex.
struct Record {
  Paths paths;
  Generation generation;
  SqliteDescriptors sqlite;
  PrivateSet set;
  std::vector<Handle*> handles;  // unordered; each knows its index
  std::size_t pauses = 0;
  std::uint64_t locks_healed = 0;
  bool armed = false;    // the locks are held
  bool unarmed = false;  // left WAL mode during a pause
  bool lost = false;     // sticky
};

// Tells that a connection has been closed without asking the connection. The registered SQL
// function owns one reference, every guard of the connection another.
struct ConnectionWatch {
  std::atomic<bool> gone{false};
  std::atomic<int> guards{0};
};

// One WalGuard. Guarded by the registry's mutex.
class Handle {
 public:
  std::uint64_t epoch = 0;  // of the process that made it; a forked child's differs
  std::shared_ptr<Record> record;
  std::shared_ptr<ConnectionWatch> watch;  // empty when held by path
  std::size_t index = 0;                   // in record->handles
  bool held = false;
  std::size_t pauses = 0;
  bool off = false;   // WALGUARD=off
  bool gone = false;  // its connection was closed first; told once
  std::function<void()>
      after_gone;  // a zombie's: run, with no mutex held, when its files are closed
};

}  // namespace walguard::guard
