// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>

#include <functional>
#include <string>
#include <vector>

namespace bench {

// The stat, fstat and fcntl calls that some code makes through the library's table of system calls,
// to be listed and made again as its floor.
class RecordedCalls {
 public:
  // Nobody else may be in the library meanwhile.
  explicit RecordedCalls(const std::function<void()>& code);
  void replay() const;
  // "3 stat, 2 fstat, 2 fcntl, 0 others"
  [[nodiscard]] std::string list() const;
  [[nodiscard]] int others() const noexcept { return others_; }

  struct Call {
    enum Kind { stat, fstat, fcntl } kind;
    std::string path;
    int fd;
    int command;
    struct flock lock;
  };

 private:
  std::vector<Call> calls_;
  int others_ = 0;
};

}  // namespace bench
