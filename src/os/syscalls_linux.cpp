// SPDX-License-Identifier: MIT
#include "os/syscalls.hpp"

#include <linux/kcmp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace walguard::os {
namespace {

// The OFD commands take the 64-bit struct flock on every architecture.
static_assert(sizeof(off_t) == 8, "build with _FILE_OFFSET_BITS=64");

int real_open(const char* path, int flags, unsigned mode) { return ::open(path, flags, mode); }
int real_close(int fd) { return ::close(fd); }
ssize_t real_read(int fd, void* buffer, std::size_t size) { return ::read(fd, buffer, size); }
int real_fstat(int fd, struct stat* out) { return ::fstat(fd, out); }
int real_stat(const char* path, struct stat* out) { return ::stat(path, out); }
int real_fcntl_lock(int fd, int command, struct flock* lock) { return ::fcntl(fd, command, lock); }
ssize_t real_getdents(int fd, void* buffer, std::size_t size) {
  return ::syscall(SYS_getdents64, fd, buffer, size);
}
ssize_t real_readlink(const char* path, char* buffer, std::size_t size) {
  return ::readlink(path, buffer, size);
}
char* real_realpath(const char* path, char* resolved) { return ::realpath(path, resolved); }
int real_ioctl(int fd, unsigned long request, void* argument) {
  return ::ioctl(fd, request, argument);
}

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
constexpr unsigned kCloseRangeUnshare = 1U << 1;  // CLOSE_RANGE_UNSHARE

// The numbers 0 to 2 must not stay the program's (its pipe would never see EOF) nor be free (what
// somebody prints could land in a -shm).
void occupy_standard_numbers() {
  int filler = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (filler < 0) filler = ::eventfd(0, EFD_CLOEXEC);  // a chroot without /dev
  for (int number = 0; number <= 2; ++number) {
    if (filler < 0) {
      ::close(number);
    } else if (filler != number) {
      ::dup3(filler, number, O_CLOEXEC);
    }
  }
  if (filler > 2) ::close(filler);
}

int real_unshare_descriptors() {
  // Linux 5.9 and later copy only the numbers below 3 into the new table.
  if (::syscall(SYS_close_range, 3U, ~0U, kCloseRangeUnshare) != 0) {
    if (::unshare(CLONE_FILES) != 0) return -1;
    // Older kernels, and sandboxes that refuse only close_range: this table is ours alone by now.
    if (::syscall(SYS_close_range, 3U, ~0U, 0U) != 0) {
      const long limit = ::sysconf(_SC_OPEN_MAX);
      for (int number = 3; number < (limit > 0 ? limit : 65536); ++number) ::close(number);
    }
  }
  occupy_standard_numbers();
  ::pthread_setname_np(::pthread_self(), "walguard");
  return 0;
}

void* real_wipe_on_fork_page() {
  const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* page = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return nullptr;
  if (::madvise(page, size, MADV_WIPEONFORK) != 0) {  // before Linux 4.14
    ::munmap(page, size);
    return nullptr;
  }
  return page;
}

int real_start_thread(void* (*body)(void*), void* argument) {
  pthread_attr_t attributes;
  if (int error = ::pthread_attr_init(&attributes); error != 0) return error;
  ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  // Room for a large static TLS block, which glibc takes from the stack.
  ::pthread_attr_setstacksize(&attributes, 256 * 1024);
  // By pthread_sigmask, which leaves glibc's own signals alone: with those blocked, setuid() in the
  // program would wait for this thread for ever.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const int error = ::pthread_create(&thread, &attributes, body, argument);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::pthread_attr_destroy(&attributes);
  return error;
}

int real_compare_files(pid_t a, pid_t b) {
  return static_cast<int>(::syscall(SYS_kcmp, a, b, KCMP_FILES, 0UL, 0UL));
}
pid_t real_getpid() { return ::getpid(); }
pid_t real_gettid() { return static_cast<pid_t>(::syscall(SYS_gettid)); }

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
