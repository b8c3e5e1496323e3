// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "os/syscalls.hpp"

namespace walguard::test {

// A /proc of strings behind the syscall table, while it lives. One at a time.
class FakeProc {
 public:
  std::map<std::string, std::string, std::less<>> files;  // path -> what read and getdents give
  bool has_thread_self = true;
  std::size_t chunk = 4096;  // the most that one read gives
  bool interrupt = false;    // every other call fails with EINTR
  int fail_read = 0;         // errno of the read after `reads_before_failure`
  int reads_before_failure = 0;
  int failures = 0;  // how often fail_read was given
  int interruptions = 0;
  std::vector<std::string> opened;
  int closed = 0;

  FakeProc() {
    active_ = this;
    table_ = os::real_syscalls();
    table_.open = [](const char* path, int, unsigned) { return active_->open(path); };
    table_.close = [](int fd) { return active_->close(fd); };
    table_.read = [](int fd, void* to, std::size_t size) { return active_->read(fd, to, size); };
    table_.getdents = table_.read;
    table_.readlink = [](const char* path, char* to, std::size_t size) {
      return active_->readlink(path, to, size);
    };
    os::replace_syscalls(table_);
  }
  ~FakeProc() {
    os::replace_syscalls(os::real_syscalls());
    active_ = nullptr;
  }
  FakeProc(const FakeProc&) = delete;
  FakeProc& operator=(const FakeProc&) = delete;

  [[nodiscard]] bool all_closed() const { return closed == static_cast<int>(opened.size()); }

 private:
  static constexpr int kFirstFd = 1000;
  static inline FakeProc* active_ = nullptr;

  int open(const char* path) {
    if (interrupted()) return fail(EINTR);
    const auto file = files.find(path);
    if (file == files.end()) return fail(ENOENT);
    opened.emplace_back(path);
    rest_ = file->second;
    return kFirstFd + static_cast<int>(opened.size());
  }
  int close(int fd) {
    if (fd != kFirstFd + static_cast<int>(opened.size())) return fail(EBADF);
    ++closed;
    return 0;
  }
  ssize_t read(int, void* to, std::size_t size) {
    if (interrupted()) return fail(EINTR);
    if (fail_read != 0 && reads_before_failure-- == 0) {
      ++failures;
      return fail(fail_read);
    }
    const std::size_t given = std::min({size, chunk, rest_.size()});
    std::memcpy(to, rest_.data(), given);
    rest_.remove_prefix(given);
    return static_cast<ssize_t>(given);
  }
  ssize_t readlink(std::string_view path, char* to, std::size_t size) {
    constexpr std::string_view kTarget = "1/task/1";
    if (path == "/proc/thread-self" && has_thread_self) {
      return static_cast<ssize_t>(kTarget.copy(to, size));
    }
    return fail(ENOENT);
  }
  static int fail(int error) {
    errno = error;
    return -1;
  }
  bool interrupted() {
    if (!interrupt) return false;
    odd_ = !odd_;
    if (odd_) ++interruptions;
    return odd_;
  }

  os::Syscalls table_{};
  std::string_view rest_;
  bool odd_ = false;
};

// Lines with a few changes that a parser may trip over, the same ones in every run.
class LineMutator {
 public:
  std::string operator()(std::string_view original) {
    std::string line(original);
    for (int changes = 1 + pick(4); changes > 0; --changes) change(line);
    return line;
  }

 private:
  int pick(std::size_t bound) { return static_cast<int>(random_() % bound); }
  std::size_t place(const std::string& line) { return random_() % (line.size() + 1); }
  void change(std::string& line) {
    static constexpr std::string_view kTroublesome(" \t\n:-/\\0179afgx>\xff\0", 18);
    static constexpr std::string_view kNumbers[] = {
        "99999999999999999999999", "-1", "+1", "0x1", "18446744073709551615", "ffffffffffffffff"};
    static constexpr std::string_view kPieces[] = {"\\012", "\\4", "->",
                                                   " - ",   "EOF", " (deleted)"};
    const std::size_t at = place(line);
    const char byte = kTroublesome[random_() % kTroublesome.size()];
    const int kind = pick(7);
    if (kind == 0) line.resize(at);
    if (kind == 1) line.erase(0, at);
    if (kind == 2) line.erase(at, 1 + random_() % 8);
    if (kind == 3) line.insert(at, 1, byte);
    if (kind == 4) line.insert(at, kPieces[random_() % std::size(kPieces)]);
    if (kind == 5) line.insert(at, kNumbers[random_() % std::size(kNumbers)]);
    if (kind == 6 && at < line.size()) line[at] = byte;
  }

  std::mt19937 random_{20240229};
};

// A copy that ends where its memory ends, so that a sanitizer sees a read beyond it.
class ExactCopy {
 public:
  explicit ExactCopy(std::string_view text) : size_(text.size()), bytes_(new char[size_]) {
    text.copy(bytes_.get(), size_);
  }
  [[nodiscard]] std::string_view view() const { return {bytes_.get(), size_}; }

 private:
  std::size_t size_;
  std::unique_ptr<char[]> bytes_;
};

inline constexpr int kMutatedLines = 100'000;

}  // namespace walguard::test
