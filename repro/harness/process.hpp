// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>

#include "arm.hpp"
#include "unique_fd.hpp"

namespace walguard::repro {

// The harness itself failed: a program cannot be started, a wait ran into the watchdog, a step
// makes no sense. Never a result of a case.
class HarnessError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// How a process ended.
struct Ending {
  int status = 0;  // as of waitpid()
  [[nodiscard]] int signal() const;
  [[nodiscard]] std::string text() const;
};

struct ShellResult {
  Ending ending;
  std::string output;  // both streams
};

// Every wait of the harness ends here at the latest; nothing in a scenario takes that long.
inline constexpr std::chrono::seconds kWatchdog{30};

// One actor: a process with a channel to the harness. Destroying it kills the process. Bound to the
// thread that runs the cell.
class ActorProcess {
 public:
  // Starts the actor program in `directory`. Throws HarnessError.
  static std::unique_ptr<ActorProcess> start(const Launch& launch,
                                             const std::filesystem::path& directory);
  // A child that an actor made; `parent` is asked how it ended. It must outlive the child.
  ActorProcess(UniqueFd channel, pid_t pid, ActorProcess* parent);
  ~ActorProcess();
  ActorProcess(const ActorProcess&) = delete;
  ActorProcess& operator=(const ActorProcess&) = delete;

  // Sends a command and waits for the answer; nullopt when the process has ended instead. With the
  // answer to `fork` or `spawn` comes the child's channel (take_channel). Throws HarnessError.
  std::optional<nlohmann::json> request(const std::string& command);
  // The two halves of request(). send() does not tell that the process has ended: answer() does.
  void send(const std::string& command);
  std::optional<nlohmann::json> answer();
  // Becomes readable when an answer comes, or the process ends.
  [[nodiscard]] int descriptor() const { return channel_.get(); }
  [[nodiscard]] UniqueFd take_channel() { return std::move(channel_of_child_); }

  // Waits until the process has ended and says how. Throws HarnessError.
  Ending wait();
  void send_signal(int signal);
  [[nodiscard]] bool ended() const { return ending_.has_value(); }
  [[nodiscard]] bool is_child() const { return is_child_; }
  [[nodiscard]] pid_t pid() const { return pid_; }
  // The parent has gone: the harness, which adopts orphans, waits for the child itself.
  void orphan() { parent_ = nullptr; }
  [[nodiscard]] ActorProcess* parent() const { return parent_; }

 private:
  bool receive(std::chrono::steady_clock::time_point deadline);

  UniqueFd channel_;
  UniqueFd channel_of_child_;
  UniqueFd pidfd_;
  pid_t pid_;
  ActorProcess* parent_;
  bool is_child_;
  std::string buffer_;
  std::optional<Ending> ending_;
};

// Runs a program to its end. Throws HarnessError when it cannot be started or does not end.
ShellResult run_program(const std::string& program, const std::vector<std::string>& arguments,
                        const std::filesystem::path& directory);

// Makes this process the one that inherits orphans, so that it can learn how they ended.
void adopt_orphans();

}  // namespace walguard::repro
