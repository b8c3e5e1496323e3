// SPDX-License-Identifier: MIT
#include "os/private_descriptors.hpp"

#include <fcntl.h>

#include <cerrno>
#include <chrono>

#include "os/environment.hpp"
#include "os/file_identity.hpp"
#include "os/proc_files.hpp"
#include "os/syscalls.hpp"
#include "os/tracked_descriptors.hpp"

namespace walguard::os {
namespace {

// How often either side looks before it sleeps: a request takes a few system calls, and waking a
// sleeper costs as much again.
constexpr int kSpins = 2000;
constexpr std::chrono::seconds kIdleTime{1};
// O_NONBLOCK: a FIFO that was put in place of a file must not stop us.
constexpr int kOpenFlags = O_CLOEXEC | O_NOCTTY | O_NONBLOCK;

void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

bool spin_until(const std::atomic<int>& value, int wanted) noexcept {
  for (int i = 0; i < kSpins; ++i) {
    if (value.load(std::memory_order_acquire) == wanted) return true;
    relax();
  }
  return false;
}

}  // namespace

PrivateDescriptors::PrivateDescriptors()
    : place_(environment().process_descriptors ? Place::process : Place::keeper) {}

int PrivateDescriptors::run(Work work) noexcept {
  if (place() == Place::keeper) {
    const int error = run_on_keeper(work);
    if (error == 0 || place() == Place::keeper) return error;
  }
  work();
  return 0;
}

int PrivateDescriptors::run_on_keeper(Work work) noexcept try {
  const std::lock_guard request(submit_);
  if (place() != Place::keeper) return EAGAIN;  // refused while we waited
  {
    // Posted under the same lock as the look for a running keeper: an idle one that is about to
    // end sees the request, or is seen to be gone.
    std::unique_lock lock(mutex_);
    if (const int error = start_keeper(lock); error != 0) return error;
    work_ = &work;
    step_.store(kPosted, std::memory_order_seq_cst);
    if (keeper_sleeps_.load(std::memory_order_seq_cst)) wake_keeper_.notify_one();
  }
  if (!spin_until(step_, kDone)) {
    std::unique_lock lock(mutex_);
    caller_sleeps_.store(true, std::memory_order_seq_cst);
    wake_caller_.wait(lock, [this] { return step_.load(std::memory_order_seq_cst) == kDone; });
    caller_sleeps_.store(false, std::memory_order_relaxed);
  }
  step_.store(kIdle, std::memory_order_relaxed);
  return 0;
} catch (const std::system_error& error) {
  return error.code().value();
}

// Makes sure that a keeper is running. `lock` is on mutex_ and is let go while a new one starts.
int PrivateDescriptors::start_keeper(std::unique_lock<std::mutex>& lock) {
  if (keeper_ == Keeper::running) return 0;
  keeper_ = Keeper::starting;
  int error = sys().start_thread(keeper_main, this);
  if (error == 0) {
    wake_caller_.wait(lock, [this] { return keeper_ != Keeper::starting; });
    if (keeper_ == Keeper::running) return 0;
    error = EPERM;
  }
  // Once private descriptors lie in the process's table they stay there.
  keeper_ = Keeper::absent;
  place_.store(Place::process, std::memory_order_release);
  fallback_notice_.store(true);
  return error;
}

void* PrivateDescriptors::keeper_main(void* self) {
  static_cast<PrivateDescriptors*>(self)->keep();
  return nullptr;
}

void PrivateDescriptors::keep() noexcept {
  const bool unshared = sys().unshare_descriptors() == 0;
  {
    const std::lock_guard lock(mutex_);
    keeper_ = unshared ? Keeper::running : Keeper::refused;
    wake_caller_.notify_all();
  }
  if (!unshared) return;
  for (;;) {
    if (!spin_until(step_, kPosted)) {
      std::unique_lock lock(mutex_);
      keeper_sleeps_.store(true, std::memory_order_seq_cst);
      const auto posted = [this] { return step_.load(std::memory_order_seq_cst) == kPosted; };
      while (!posted()) {
        const bool idle = descriptors_.load(std::memory_order_relaxed) == 0;
        if (!idle) {
          wake_keeper_.wait(lock, posted);
        } else if (!wake_keeper_.wait_for(lock, kIdleTime, posted)) {
          // The next run() finds no keeper and starts one. Nothing is touched after this.
          keeper_ = Keeper::absent;
          keeper_sleeps_.store(false, std::memory_order_relaxed);
          return;
        }
      }
      keeper_sleeps_.store(false, std::memory_order_relaxed);
    }
    (*work_)();
    step_.store(kDone, std::memory_order_seq_cst);
    if (caller_sleeps_.load(std::memory_order_seq_cst)) {
      const std::lock_guard lock(mutex_);
      wake_caller_.notify_all();
    }
  }
}

int PrivateDescriptors::open(const char* path, int flags, FileIdentity& identity) noexcept {
  struct stat info {};
  int fd = -1;
  if (place() == Place::keeper) {
    fd = sys().open(path, flags | kOpenFlags, 0);
    if (fd < 0) return -1;
    if (sys().fstat(fd, &info) != 0) {
      const int error = errno;
      sys().close(fd);
      errno = error;
      return -1;
    }
    note_opened();
  } else {
    fd = open_tracked(path, flags | kOpenFlags, info);
    if (fd < 0) return -1;
  }
  identity = identity_of(info);
  return fd;
}

void PrivateDescriptors::close(int fd) noexcept {
  if (place() == Place::keeper) {
    descriptors_.fetch_sub(1, std::memory_order_relaxed);
    sys().close(fd);
  } else {
    close_tracked(fd);
  }
}

bool PrivateDescriptors::may_close(int fd, FileIdentity identity) noexcept {
  if (place() == Place::keeper) return true;
  struct stat info {};
  if (sys().fstat(fd, &info) != 0 || info.st_nlink != 0) return false;
  bool alone = true;
  const int error = visit_own_descriptors([&](int other) {
    struct stat seen {};
    if (other != fd && sys().fstat(other, &seen) == 0 && identity_of(seen) == identity) {
      alone = false;
    }
    return alone;
  });
  return error == 0 && alone;
}

}  // namespace walguard::os
