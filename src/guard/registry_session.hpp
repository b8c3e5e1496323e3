// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "guard/registry.hpp"
#include "os/events.hpp"

namespace walguard::guard {

// A stretch under the registry's mutex. What the outside is to hear of it waits for the end.
class Registry::Session {
 public:
  explicit Session(Registry& registry) : lock_(registry.mutex_) {}
  ~Session() {
    lock_.unlock();
    os::deliver(events_);
    for (const auto& task : tasks_) {
      try {
        task();
      } catch (...) {
        // Cleaning up is a courtesy; what fails stays for the next one.
      }
    }
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void tell(EventKind kind, std::string path, std::string message, std::error_code code = {}) {
    events_.push_back({kind, std::move(path), std::move(message), code});
  }
  void afterwards(std::function<void()> task) { tasks_.push_back(std::move(task)); }

 private:
  std::unique_lock<std::mutex> lock_;
  std::vector<Event> events_;
  std::vector<std::function<void()>> tasks_;
};

}  // namespace walguard::guard
