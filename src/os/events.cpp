// SPDX-License-Identifier: MIT
#include "os/events.hpp"

#include <pthread.h>

#include <memory>
#include <mutex>
#include <utility>

namespace walguard {
namespace {

struct Entry {
  std::uint64_t id;
  std::shared_ptr<const EventSink> sink;
};
using Entries = std::vector<Entry>;

// Never destroyed: guards may be released while the program exits. The list is replaced as a whole
// under the mutex, which nobody holds while a sink runs.
struct Sinks {
  std::mutex mutex;
  std::uint64_t next_id = 1;
  std::shared_ptr<const Entries> entries = std::make_shared<const Entries>();
};

Sinks& sinks() {
  // fork() waits for the mutex, so that the child finds the list whole and can go on with it.
  static Sinks* const instance = [] {
    auto* made = new Sinks;
    ::pthread_atfork([] { sinks().mutex.lock(); }, [] { sinks().mutex.unlock(); },
                     [] { sinks().mutex.unlock(); });
    return made;
  }();
  return *instance;
}

std::shared_ptr<const Entries> snapshot() {
  Sinks& all = sinks();
  const std::lock_guard lock(all.mutex);
  return all.entries;
}

}  // namespace

std::uint64_t add_event_sink(EventSink sink) {
  Sinks& all = sinks();
  auto shared = std::make_shared<const EventSink>(std::move(sink));
  const std::lock_guard lock(all.mutex);
  auto next = std::make_shared<Entries>(*all.entries);
  next->push_back({all.next_id, std::move(shared)});
  all.entries = std::move(next);
  return all.next_id++;
}

void remove_event_sink(std::uint64_t id) noexcept try {
  Sinks& all = sinks();
  const std::lock_guard lock(all.mutex);
  auto next = std::make_shared<Entries>(*all.entries);
  std::erase_if(*next, [id](const Entry& entry) { return entry.id == id; });
  all.entries = std::move(next);
} catch (...) {
  // Without memory the sink stays; nothing depends on its going.
}

namespace os {

void deliver(const std::vector<Event>& events) noexcept {
  if (events.empty()) return;
  try {
    const auto entries = snapshot();
    for (const Event& event : events) {
      for (const Entry& entry : *entries) {
        try {
          if (*entry.sink) (*entry.sink)(event);
        } catch (...) {
          // A sink's own trouble is not the guard's.
        }
      }
    }
  } catch (...) {
  }
}

}  // namespace os
}  // namespace walguard
