// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

namespace walguard::repro {

// Both ends of a new control channel.
struct ChannelPair {
  int actor = -1;
  int harness = -1;
};

// The actor's end of its connection to the harness: one line a command, one line an answer. It
// lives at a high descriptor number, so that a sweep can spare it.
class Control {
 public:
  explicit Control(int fd);

  [[nodiscard]] int descriptor() const { return fd_; }
  // nullopt when the harness has gone.
  [[nodiscard]] std::optional<std::string> read_line();
  // Sends `line`, and with it the descriptor `attached` unless that is -1. Ends the process when
  // the harness has gone.
  void write_line(const std::string& line, int attached = -1) const;
  // In a forked child: from now on this is another channel.
  void replace(int fd);

  [[nodiscard]] static ChannelPair make_pair();

 private:
  int fd_;
  std::string buffer_;
};

}  // namespace walguard::repro
