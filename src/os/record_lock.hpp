// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "walguard/error.hpp"

namespace walguard::os {

// Record locks of the two kinds. Every function returns 0 or an errno and waits for nothing.
// A refused lock is EAGAIN whatever the system says for it (EACCES on some).

// Open file description (OFD) locks: owned by the description, shared by a forked child.
[[nodiscard]] int ofd_read_lock(int fd, ByteRange range) noexcept;
[[nodiscard]] int ofd_unlock(int fd, ByteRange range) noexcept;

// POSIX locks: owned by the process (its descriptor table, to be exact) and the inode.
[[nodiscard]] int posix_read_lock(int fd, ByteRange range) noexcept;

struct Conflict {
  bool found = false;
  bool write = false;
  std::int64_t pid = -1;  // -1 for an OFD lock: it has no process
};

// What would stand in the way of an OFD lock on `range`, asked from the description of `fd`: locks
// of every other description and every POSIX lock, this process's own included. Works on a
// descriptor that is open for reading only. If several are in the way, one of them is told.
enum class Asked { read_lock, write_lock };
[[nodiscard]] int conflict_with(int fd, Asked asked, ByteRange range, Conflict& out) noexcept;

}  // namespace walguard::os
