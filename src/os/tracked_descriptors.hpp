// SPDX-License-Identifier: MIT
#pragma once

#include <sys/stat.h>

namespace walguard::os {

// Descriptors in the process's own table that a child of fork() must not keep: it would share the
// open file description, and with it the lock, beyond the parent's death. A fork handler closes
// them in the child (which has no POSIX lock yet that this could cancel), and never unlocks.
// A child of _Fork() or a raw clone() runs no handler and keeps them until it execs or exits.

// open(2) and fstat(2). Returns a number, or -1 and errno.
[[nodiscard]] int open_tracked(const char* path, int flags, struct stat& info) noexcept;
// close(2) of such a number, if it is still the file that was opened: third-party code may have
// closed it, and the number may be somebody else's by now.
void close_tracked(int fd) noexcept;
// Whether the number is one of these, and so not SQLite's.
[[nodiscard]] bool is_tracked(int fd) noexcept;

}  // namespace walguard::os
