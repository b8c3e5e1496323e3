// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "walguard/error.hpp"
#include "walguard/generation.hpp"

namespace walguard::os {

// Calls `visit` for each descriptor number of the calling thread's table until it returns false.
// Lists /proc/thread-self/fd (falls back to /proc/self/fd) with getdents in a fixed buffer; the
// descriptor of the listing itself is left out. Opens nothing else, never a database.
// Returns 0, or the errno of the call that failed.
[[nodiscard]] int visit_own_descriptors(const std::function<bool(int fd)>& visit);

// readlink of /proc/thread-self/fd/N; empty when it cannot be read.
[[nodiscard]] std::string descriptor_path(int fd);

enum class LockKind { posix, ofd, flock, lease };

// One "lock:" line of /proc/PID/fdinfo/FD: a lock that was taken through this description.
struct DescriptorLock {
  LockKind kind = LockKind::posix;
  bool write = false;
  bool waiting = false;  // a "->" line
  long pid = 0;          // -1 for an OFD lock
  FileIdentity file;     // the kernel's s_dev
  ByteRange range;       // length 0 means to the end of the file
};

// Parses one line of fdinfo ("lock:\t1: POSIX  ADVISORY  READ 123 fe:00:12 1073741826 1073742335").
// False for a line that is no lock line or malformed.
[[nodiscard]] bool parse_lock_line(std::string_view line, DescriptorLock& out);

// The locks that show on descriptor `fd` of the calling thread's table. Returns 0 or an errno.
[[nodiscard]] int descriptor_locks(int fd, std::vector<DescriptorLock>& out);

}  // namespace walguard::os
