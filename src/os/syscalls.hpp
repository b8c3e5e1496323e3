// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>

namespace walguard::os {

// The seam: every system call of the library goes through this table and nowhere else, so that a
// port, an audit or a fault injector is one table. Internal, with hidden visibility: the shipped
// library has no switch to turn it, tests link the objects and do.
// Members have the semantics of the calls they are named after (errno included).
struct Syscalls {
  int (*open)(const char* path, int flags, unsigned mode);
  int (*close)(int fd);
  ssize_t (*read)(int fd, void* buffer, std::size_t size);
  int (*fstat)(int fd, struct stat* out);
  int (*stat)(const char* path, struct stat* out);
  int (*fcntl_lock)(int fd, int command, struct flock* lock);
  ssize_t (*getdents)(int fd, void* buffer, std::size_t size);
  ssize_t (*readlink)(const char* path, char* buffer, std::size_t size);
  char* (*realpath)(const char* path, char* resolved);  // resolved: PATH_MAX bytes
  int (*ioctl)(int fd, unsigned long request, void* argument);
  int (*unshare_descriptors)();  // give the calling thread an empty descriptor table of its own
  void* (*wipe_on_fork_page)();  // a zeroed page that is zero again in every child; nullptr: none
  int (*start_thread)(void* (*body)(void*), void* argument);  // detached, all signals blocked
  int (*compare_files)(pid_t a, pid_t b);  // kcmp(KCMP_FILES): 0 = the threads share one table
  pid_t (*getpid)();
  pid_t (*gettid)();
};

[[nodiscard]] const Syscalls& real_syscalls() noexcept;

namespace detail {
extern const Syscalls* current;
}

// The table in use.
[[nodiscard]] inline const Syscalls& sys() noexcept { return *detail::current; }

// Tests only. The table must outlive every use; swap it while no other thread is in the library.
void replace_syscalls(const Syscalls& table) noexcept;

}  // namespace walguard::os
