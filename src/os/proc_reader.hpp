// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

#include "os/syscalls.hpp"

// Reading what the kernel says about the calling thread, through the syscall table.
namespace walguard::os {

// The result of a system call, or minus its errno. EINTR is retried: never use it for close().
template <class Call>
long result_or_errno(const Call& call) {
  for (;;) {
    const long result = call();
    if (result >= 0) return result;
    if (errno != EINTR) return -errno;
  }
}

// Runs `call` (a system call on a path) on `name` below /proc/thread-self, and below /proc/self
// where that is not known (before Linux 3.17). /proc/self is another thing: it shows the descriptor
// table of the main thread, and nothing at all once that thread has ended. So an ENOENT counts for
// the one file unless /proc/thread-self itself is missing.
template <class Call>
long on_own_proc(const char* name, const Call& call) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/thread-self/%s", name);
  const long result = result_or_errno([&] { return call(path); });
  if (result != -ENOENT) return result;
  char target[64];
  if (sys().readlink("/proc/thread-self", target, sizeof target) >= 0) return result;
  std::snprintf(path, sizeof path, "/proc/self/%s", name);
  return result_or_errno([&] { return call(path); });
}

// A file or directory of the thread's own /proc, open until the end of the scope. Bound to the
// thread that made it.
class OwnProcFile {
 public:
  explicit OwnProcFile(const char* name, int extra_flags = 0)
      : fd_(static_cast<int>(on_own_proc(name, [extra_flags](const char* path) {
          return sys().open(path, O_RDONLY | O_CLOEXEC | extra_flags, 0);
        }))) {}
  ~OwnProcFile() {
    if (fd_ >= 0) sys().close(fd_);
  }
  OwnProcFile(const OwnProcFile&) = delete;
  OwnProcFile& operator=(const OwnProcFile&) = delete;

  [[nodiscard]] int error() const noexcept { return fd_ < 0 ? -fd_ : 0; }
  [[nodiscard]] int fd() const noexcept { return fd_; }
  // The number of bytes read, 0 at the end, or minus an errno.
  [[nodiscard]] long read(char* buffer, std::size_t size) const {
    return result_or_errno([&] { return sys().read(fd_, buffer, size); });
  }

 private:
  int fd_;  // or minus the errno of open()
};

// Longer lines are dropped. A path of PATH_MAX bytes, all of them escaped, has 16 KiB; SQLite opens
// nothing beyond 504 bytes.
inline constexpr std::size_t kLongestLine = 32 * 1024;

// Calls `visit` for each line of a /proc file, without its newline, until it returns false.
// Returns 0, or the errno of the call that failed.
template <class Visit>
int for_each_line(const char* name, const Visit& visit) {
  const OwnProcFile file(name);
  if (file.error() != 0) return file.error();
  char chunk[4096];   // the kernel gives no more than a page at a time
  std::string carry;  // the begin of a line that the last chunk did not finish
  bool too_long = false;
  for (;;) {
    const long size = file.read(chunk, sizeof chunk);
    if (size < 0) return static_cast<int>(-size);
    if (size == 0) break;
    std::string_view rest(chunk, static_cast<std::size_t>(size));
    for (std::size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
      std::string_view line = rest.substr(0, end);
      rest.remove_prefix(end + 1);
      if (!carry.empty()) line = carry.append(line);
      if (!too_long && line.size() <= kLongestLine && !visit(line)) return 0;
      carry.clear();
      too_long = false;
    }
    if (!too_long) carry.append(rest);
    if (carry.size() > kLongestLine) {
      too_long = true;
      carry.clear();
    }
  }
  if (!carry.empty()) visit(std::string_view(carry));
  return 0;
}

}  // namespace walguard::os
