// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "guard/generation.hpp"
#include "guard/record.hpp"
#include "os/private_descriptors.hpp"
#include "walguard/error.hpp"

namespace walguard::guard {

// A descriptor without a lock that must not be closed, kept for reuse (process table only).
struct Parked {
  int fd;
  FileIdentity identity;
  FileIdentity db;  // the database that it belongs to
  bool read_only;
  std::string path;
};
using ParkedList = std::vector<Parked>;

// The private descriptors of one database: opened, locked, proven, given back. Everything here runs
// where private descriptors live and waits for nothing.
class Arming {
 public:
  enum class Step { open, identify, lock, probe };
  struct Outcome {
    int error = 0;  // 0: done. Otherwise nothing is held and nothing left open
    Step step = Step::open;
    bool wrong_file = false;  // what was opened is not what SQLite has open
    const std::string* path = nullptr;
    ByteRange range{};             // lock: what was refused
    std::int64_t holder_pid = -1;  // lock: by whom, -1 when unknown
    bool not_enforced = false;     // probe: a second description was not refused
  };

  explicit Arming(os::PrivateDescriptors& place) noexcept : place_(place) {}

  // Opens and locks what `record` names, and fills record.set. `probe`: also prove on a byte
  // outside SQLite's ranges that a second description is excluded.
  [[nodiscard]] Outcome arm(Record& record, bool probe);
  // Takes the locks of an armed record again; in the process's table, where anybody could have
  // closed the descriptors, opens again what is missing (`reopened`).
  [[nodiscard]] Outcome relock(Record& record, bool& reopened);
  // Gives the locks back and keeps the descriptors.
  void unlock(Record& record);
  // Gives everything back. What may not be closed is parked.
  void disarm(Record& record);
  // Names that the pinned files still have.
  [[nodiscard]] PinnedNames pinned_names(const Record& record);
  // Closes parked descriptors that may be closed by now.
  void collect_parked();
  [[nodiscard]] const ParkedList& parked() const noexcept { return parked_; }

 private:
  struct Attempt;
  [[nodiscard]] bool take(const std::string& path, FileIdentity wanted, FileIdentity db, int flags,
                          int& fd, bool& read_only, Outcome& outcome);
  void give_back(int& fd, FileIdentity identity, const Record& record, const std::string& path,
                 bool read_only);
  [[nodiscard]] bool lock(const PrivateSet& set, const Paths& paths, Outcome& outcome);
  [[nodiscard]] bool prove(const Record& record, Outcome& outcome);
  [[nodiscard]] Outcome arm_here(Record& record, bool probe);
  void disarm_here(Record& record);
  void unlock_here(const Record& record);

  os::PrivateDescriptors& place_;
  ParkedList parked_;
};

}  // namespace walguard::guard
