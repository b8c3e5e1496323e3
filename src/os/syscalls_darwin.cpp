// SPDX-License-Identifier: MIT
#include "os/syscalls.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>

// The questions of the other *_darwin.cpp files (proc_pidinfo, statfs, F_GETPATH) have no member in
// the table: they open nothing and lock nothing.
namespace walguard::os {
namespace {

static_assert(sizeof(off_t) == 8);

int not_supported() {
  errno = ENOTSUP;
  return -1;
}

int real_open(const char* path, int flags, unsigned mode) { return ::open(path, flags, mode); }
int real_close(int fd) { return ::close(fd); }
ssize_t real_read(int fd, void* buffer, std::size_t size) { return ::read(fd, buffer, size); }
int real_fstat(int fd, struct stat* out) { return ::fstat(fd, out); }
int real_stat(const char* path, struct stat* out) { return ::stat(path, out); }
int real_fcntl_lock(int fd, int command, struct flock* lock) { return ::fcntl(fd, command, lock); }
ssize_t real_getdents(int, void*, std::size_t) { return not_supported(); }
ssize_t real_readlink(const char* path, char* buffer, std::size_t size) {
  return ::readlink(path, buffer, size);
}
char* real_realpath(const char* path, char* resolved) { return ::realpath(path, resolved); }
int real_ioctl(int fd, unsigned long request, void* argument) {
  return ::ioctl(fd, request, argument);
}

// One descriptor table a process, so private descriptors lie in it and are never closed while that
// could cancel a lock.
int real_unshare_descriptors() { return not_supported(); }

// minherit() here shares a page, copies it or leaves a hole in the child, where touching it is a
// fault; nothing gives a zeroed one. fork_epoch has a fork handler instead.
void* real_wipe_on_fork_page() { return nullptr; }

int real_start_thread(void* (*body)(void*), void* argument) {
  pthread_attr_t attributes;
  if (int error = ::pthread_attr_init(&attributes); error != 0) return error;
  ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  ::pthread_attr_setstacksize(&attributes, 256 * 1024);
  sigset_t all;
  sigset_t before;
  sigfillset(&all);  // a macro in some SDKs
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const int error = ::pthread_create(&thread, &attributes, body, argument);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::pthread_attr_destroy(&attributes);
  return error;
}

int real_compare_files(pid_t, pid_t) { return not_supported(); }
pid_t real_getpid() { return ::getpid(); }
pid_t real_gettid() {
  std::uint64_t id = 0;  // never reused, and beyond 32 bits only after as many threads
  ::pthread_threadid_np(nullptr, &id);
  return static_cast<pid_t>(id);
}

constexpr Syscalls kReal{
    .open = real_open,
    .close = real_close,
    .read = real_read,
    .fstat = real_fstat,
    .stat = real_stat,
    .fcntl_lock = real_fcntl_lock,
    .getdents = real_getdents,
    .readlink = real_readlink,
    .realpath = real_realpath,
    .ioctl = real_ioctl,
    .unshare_descriptors = real_unshare_descriptors,
    .wipe_on_fork_page = real_wipe_on_fork_page,
    .start_thread = real_start_thread,
    .compare_files = real_compare_files,
    .getpid = real_getpid,
    .gettid = real_gettid,
};

}  // namespace

namespace detail {
constinit const Syscalls* current = &kReal;
}

const Syscalls& real_syscalls() noexcept { return kReal; }
void replace_syscalls(const Syscalls& table) noexcept { detail::current = &table; }

}  // namespace walguard::os
