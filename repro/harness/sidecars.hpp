// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "evidence.hpp"
#include "unique_fd.hpp"

namespace walguard::repro {

// Watches -wal and -shm of the databases of one cell from outside, without touching them: stat,
// O_PATH and inotify only. O_PATH descriptors pin what was seen, since an inode number is free for
// reuse the moment its file is deleted. Not thread-safe.
class SidecarWatch {
 public:
  explicit SidecarWatch(std::filesystem::path directory);

  // A process that has a connection on the database, or had one when it died in this step.
  struct Holder {
    pid_t pid;
    bool died;
    bool kept_connection;  // since before the step
    std::string name;
  };
  using HoldersOf = std::function<std::vector<Holder>(const std::string& file)>;

  // Starts to watch the sidecars of `file`, which need not exist yet.
  void add(const std::string& file);

  // Compares with what was seen after the step before. What a holder still has open must have its
  // name and must not have been cut.
  void observe(const HoldersOf& holders_of, Evidence& evidence);

  // Waits until somebody has written to a -shm by other means than its mapping, or `other` can be
  // read. Throws HarnessError (watchdog).
  void wait_for_cut(int other);

 private:
  struct Sidecar {
    std::string path;
    std::string_view deleted_word;
    bool is_shm = false;
    UniqueFd pin;
    dev_t device = 0;
    ino_t inode = 0;
    off_t size = 0;
    int watch = -1;
    bool modified = false;
    std::set<pid_t> users;  // who had it open after the step before
  };

  void read_events();
  void observe_one(Sidecar& sidecar, const std::vector<Holder>& holders, Evidence& evidence);
  [[nodiscard]] static bool is_used(const Sidecar& sidecar, pid_t pid);
  static void look_for_users(Sidecar& sidecar, const std::vector<Holder>& holders);
  void pin(Sidecar& sidecar);
  void unpin(Sidecar& sidecar);

  std::filesystem::path directory_;
  UniqueFd inotify_;
  std::map<std::string, std::array<Sidecar, 2>> databases_;
};

}  // namespace walguard::repro
