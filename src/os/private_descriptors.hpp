// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "walguard/generation.hpp"

namespace walguard::os {

// Work that is done where private descriptors live. It must not wait, throw or call SQLite.
class Work {
 public:
  template <typename F>
  explicit Work(F& function) noexcept
      : context_(&function), call_([](void* context) { (*static_cast<F*>(context))(); }) {}
  void operator()() const { call_(context_); }

 private:
  void* context_;
  void (*call_)(void*);
};

// Where the library keeps descriptors of database files. An ordinary descriptor is a trap: closing
// it cancels every POSIX lock that SQLite has on the inode.
//
// Keeper: a thread with a descriptor table (files_struct) of its own, which is what owns POSIX
// locks. Closing there cancels nothing, nobody else in the process can reach the numbers, and a
// forked child does not get them. The thread is started at the first run() and ends a second after
// the last descriptor is gone.
//
// Process: where the kernel or a sandbox refuses that (or WALGUARD_DESCRIPTORS=process). The
// descriptors are close-on-exec, a fork handler closes them in the child, and the owner must not
// close one while that could cancel a lock (see may_close).
//
// Thread-safe. One object a process *and* fork: a forked child abandons its copy.
class PrivateDescriptors {
 public:
  enum class Place { keeper, process };

  PrivateDescriptors();

  // Runs `work` where the descriptors live and waits for its end. Returns 0, or an errno when the
  // work could not be run at all (then nothing of it has been done).
  [[nodiscard]] int run(Work work) noexcept;

  // Valid after the first run(); before, what it would try.
  [[nodiscard]] Place place() const noexcept { return place_.load(std::memory_order_acquire); }
  // Once: true if the keeper was wanted and refused since the last call.
  [[nodiscard]] bool take_fallback_notice() noexcept { return fallback_notice_.exchange(false); }

  // Inside run() only.
  // open(2), never below 3; the identity is learned by fstat. Returns a number or -1 and errno.
  [[nodiscard]] int open(const char* path, int flags, FileIdentity& identity) noexcept;
  // Closes what open() gave. Process: only where closing cannot cancel a lock, see may_close().
  void close(int fd) noexcept;

  // Whether closing a private descriptor of `identity` cancels no lock of this process: always in
  // the keeper's table; in the process's only when the inode has no name any more and no other
  // descriptor here, so that nobody has or can get a lock on it.
  [[nodiscard]] bool may_close(int fd, FileIdentity identity) noexcept;

 private:
  [[nodiscard]] int run_on_keeper(Work work) noexcept;
  [[nodiscard]] int start_keeper(std::unique_lock<std::mutex>& lock);
  static void* keeper_main(void* self);
  void keep() noexcept;
  void note_opened() noexcept { descriptors_.fetch_add(1, std::memory_order_relaxed); }

  std::atomic<Place> place_;
  std::atomic<bool> fallback_notice_{false};
  std::atomic<int> descriptors_{0};  // open in the keeper's table

  // One request at a time: `submit_` is held from posting to taking the result.
  std::mutex submit_;
  static constexpr int kIdle = 0;
  static constexpr int kPosted = 1;
  static constexpr int kDone = 2;
  std::atomic<int> step_{kIdle};
  const Work* work_ = nullptr;

  // For sleeping on either side.
  std::mutex mutex_;
  std::condition_variable wake_keeper_;
  std::condition_variable wake_caller_;
  std::atomic<bool> keeper_sleeps_{false};
  std::atomic<bool> caller_sleeps_{false};
  enum class Keeper { absent, starting, refused, running };
  Keeper keeper_ = Keeper::absent;  // guarded by mutex_
};

}  // namespace walguard::os
