// SPDX-License-Identifier: MIT
#include "os/tracked_descriptors.hpp"

#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <new>
#include <vector>

#include "os/file_identity.hpp"
#include "os/syscalls.hpp"
#include "walguard/generation.hpp"

namespace walguard::os {
namespace {

struct Tracked {
  int fd;
  FileIdentity identity;
};

struct Table {
  std::mutex mutex;  // held over open + note, so that no fork falls between
  std::vector<Tracked> entries;
};

// Anything but a closed number or another file: a failure to look proves nothing.
bool still_ours(const Tracked& entry) noexcept {
  struct stat info {};
  if (sys().fstat(entry.fd, &info) != 0) return errno != EBADF;
  return identity_of(info) == entry.identity;
}

Table& table() noexcept;

void close_in_child() {
  Table& tracked = table();
  for (const Tracked& entry : tracked.entries) {
    if (still_ours(entry)) sys().close(entry.fd);
  }
  tracked.entries.clear();
  tracked.mutex.unlock();
}

Table& table() noexcept {
  static Table* const instance = [] {
    ::pthread_atfork([] { table().mutex.lock(); }, [] { table().mutex.unlock(); }, close_in_child);
    // Without memory for this at the first use nothing else works either.
    return new Table;  // NOLINT(bugprone-unhandled-exception-at-new)
  }();
  return *instance;
}

}  // namespace

int open_tracked(const char* path, int flags, struct stat& info) noexcept try {
  Table& tracked = table();
  const std::lock_guard lock(tracked.mutex);
  if (tracked.entries.size() == tracked.entries.capacity()) {
    tracked.entries.reserve(tracked.entries.size() * 2 + 8);  // nothing may throw after the open
  }
  const int fd = sys().open(path, flags, 0);
  if (fd < 0) return -1;
  // Asked again, since a descriptor of an unknown file may not be closed: that could cancel a lock.
  if (sys().fstat(fd, &info) != 0 && sys().fstat(fd, &info) != 0) return -1;
  // Whoever had the number before us is gone: somebody else closed it.
  std::erase_if(tracked.entries, [fd](const Tracked& other) { return other.fd == fd; });
  tracked.entries.push_back({fd, identity_of(info)});
  return fd;
} catch (const std::bad_alloc&) {
  errno = ENOMEM;
  return -1;
}

void close_tracked(int fd) noexcept {
  Table& tracked = table();
  const std::lock_guard lock(tracked.mutex);
  const auto entry = std::find_if(tracked.entries.begin(), tracked.entries.end(),
                                  [fd](const Tracked& other) { return other.fd == fd; });
  if (entry == tracked.entries.end()) return;
  if (still_ours(*entry)) sys().close(fd);
  tracked.entries.erase(entry);
}

bool is_tracked(int fd) noexcept {
  Table& tracked = table();
  const std::lock_guard lock(tracked.mutex);
  return std::any_of(tracked.entries.begin(), tracked.entries.end(),
                     [fd](const Tracked& entry) { return entry.fd == fd; });
}

}  // namespace walguard::os
