// SPDX-License-Identifier: MIT
#include "process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

extern "C" char** environ;

namespace walguard::repro {

namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void fail(const std::string& what, int error) {
  throw HarnessError(what + ": " + std::strerror(error));
}

// Waits until `fd` can be read or its peer has gone; false when the deadline came first.
bool wait_readable(int fd, Clock::time_point deadline) {
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd entry{fd, POLLIN, 0};
    const int count = ::poll(&entry, 1, static_cast<int>(std::max<long long>(left.count(), 0)));
    if (count > 0) return true;
    if (count < 0 && errno != EINTR) fail("poll", errno);
    if (count == 0) return false;
  }
}

UniqueFd open_pidfd(pid_t pid) {
  // glibc has a wrapper only from 2.36 on.
  return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (auto& string : strings) result.push_back(string.data());
  result.push_back(nullptr);
  return result;
}

// posix_spawn with what the harness needs: a working directory, and descriptors put in place. Every
// other descriptor of the harness is close-on-exec, since cells start programs in parallel.
pid_t spawn(const std::string& program, std::vector<std::string> arguments,
            const std::vector<std::pair<std::string, std::string>>& additions,
            const std::filesystem::path& directory,
            const std::vector<std::pair<int, int>>& descriptors) {
  arguments.insert(arguments.begin(), program);
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  for (const auto& [name, value] : additions) environment.push_back(name + "=" + value);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  for (const auto& [from, to] : descriptors) {
    posix_spawn_file_actions_adddup2(&actions, from, to);
  }
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, program.c_str(), &actions, nullptr,
                                   pointers(arguments).data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) fail("cannot start " + program, error);
  return pid;
}

Ending wait_for(pid_t pid, int pidfd, const std::string& name) {
  if (!wait_readable(pidfd, Clock::now() + kWatchdog)) {
    throw HarnessError(name + " does not end (watchdog)");
  }
  Ending ending;
  while (::waitpid(pid, &ending.status, 0) < 0) {
    if (errno != EINTR) fail("waitpid for " + name, errno);
  }
  return ending;
}

}  // namespace

int Ending::signal() const { return WIFSIGNALED(status) ? WTERMSIG(status) : 0; }

std::string Ending::text() const {
  if (signal() != 0) return std::string("signal ") + ::sigabbrev_np(signal());
  return "exit status " + std::to_string(WEXITSTATUS(status));
}

std::unique_ptr<ActorProcess> ActorProcess::start(const Launch& launch,
                                                  const std::filesystem::path& directory) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    fail("socketpair", errno);
  }
  UniqueFd ours(ends[0]);
  const UniqueFd theirs(ends[1]);
  const auto pid =
      spawn(launch.program, launch.arguments, launch.environment, directory, {{theirs.get(), 3}});
  return std::make_unique<ActorProcess>(std::move(ours), pid, nullptr);
}

ActorProcess::ActorProcess(UniqueFd channel, pid_t pid, ActorProcess* parent)
    : channel_(std::move(channel)),
      pidfd_(open_pidfd(pid)),
      pid_(pid),
      parent_(parent),
      is_child_(parent != nullptr) {
  if (!pidfd_) fail("pidfd_open", errno);
}

ActorProcess::~ActorProcess() {
  if (ended()) return;
  ::kill(pid_, SIGKILL);
  ::kill(pid_, SIGCONT);
  try {
    wait();
  } catch (const std::exception&) {
    // It was the parent's to wait for, and that has gone: nothing is left to do.
  }
}

bool ActorProcess::receive(Clock::time_point deadline) {
  if (!wait_readable(channel_.get(), deadline)) {
    throw HarnessError("an actor does not answer (watchdog)");
  }
  std::array<char, 8192> chunk{};
  iovec piece{chunk.data(), chunk.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> space{};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = space.data();
  message.msg_controllen = space.size();
  const auto count = ::recvmsg(channel_.get(), &message, MSG_CMSG_CLOEXEC);
  if (count <= 0) return false;
  if (const auto* header = CMSG_FIRSTHDR(&message);
      header != nullptr && header->cmsg_type == SCM_RIGHTS) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(header), sizeof(fd));
    channel_of_child_ = UniqueFd(fd);
  }
  buffer_.append(chunk.data(), static_cast<std::size_t>(count));
  return true;
}

std::optional<nlohmann::json> ActorProcess::request(const std::string& command) {
  send(command);
  return answer();
}

void ActorProcess::send(const std::string& command) {
  const auto line = command + "\n";
  std::size_t sent = 0;
  while (sent < line.size()) {
    const auto count = ::send(channel_.get(), line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return;
    sent += static_cast<std::size_t>(count);
  }
}

std::optional<nlohmann::json> ActorProcess::answer() {
  const auto deadline = Clock::now() + kWatchdog;
  auto end = std::string::npos;
  while ((end = buffer_.find('\n')) == std::string::npos) {
    if (!receive(deadline)) return std::nullopt;
  }
  const auto line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  return nlohmann::json::parse(line);
}

Ending ActorProcess::wait() {
  if (ending_) return *ending_;
  if (parent_ != nullptr && !parent_->ended()) {
    if (!wait_readable(pidfd_.get(), Clock::now() + kWatchdog)) {
      throw HarnessError("a child of an actor does not end (watchdog)");
    }
    const auto answer = parent_->request("reap " + std::to_string(pid_));
    if (!answer) throw HarnessError("the parent of a child ended before it could be asked");
    ending_ = Ending{std::stoi((*answer)["text"].get<std::string>())};
  } else {
    ending_ = wait_for(pid_, pidfd_.get(), "an actor");
  }
  return *ending_;
}

void ActorProcess::send_signal(int signal) { ::kill(pid_, signal); }

ShellResult run_program(const std::string& program, const std::vector<std::string>& arguments,
                        const std::filesystem::path& directory) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail("pipe", errno);
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  const auto pid = spawn(program, arguments, {}, directory, {{writer.get(), 1}, {writer.get(), 2}});
  const auto pidfd = open_pidfd(pid);
  writer = UniqueFd();
  ShellResult result;
  const auto deadline = Clock::now() + kWatchdog;
  while (true) {
    if (!wait_readable(reader.get(), deadline)) {
      ::kill(pid, SIGKILL);
      wait_for(pid, pidfd.get(), program);
      throw HarnessError(program + " does not end (watchdog)");
    }
    std::array<char, 8192> chunk{};
    const auto count = ::read(reader.get(), chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    result.output.append(chunk.data(), static_cast<std::size_t>(count));
  }
  result.ending = wait_for(pid, pidfd.get(), program);
  return result;
}

void adopt_orphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

}  // namespace walguard::repro
