// SPDX-License-Identifier: MIT
#include "guard/connection_watch.hpp"

#include <sqlite3.h>

#include <cstdio>
#include <mutex>
#include <unordered_map>

#include "os/fork_epoch.hpp"

namespace walguard::guard {
namespace {

using Reference = std::shared_ptr<ConnectionWatch>;

std::atomic<std::uint64_t> closed{0};

// Which connections have the function. A weak reference dies with the connection, whose address
// may then be another one's. Abandoned in a forked child, where the mutex may be held for ever.
struct Watched {
  std::uint64_t epoch = os::fork_epoch();
  std::mutex mutex;
  std::unordered_map<sqlite3*, std::weak_ptr<ConnectionWatch>> connections;
  std::size_t prune_at = 64;
};

Watched& watched() {
  static std::atomic<Watched*> instance{new Watched};
  Watched* current = instance.load(std::memory_order_acquire);
  if (current->epoch == os::fork_epoch()) return *current;
  auto* fresh = new Watched;
  if (instance.compare_exchange_strong(current, fresh)) return *fresh;
  delete fresh;
  return *current;
}

struct Registration {
  Reference watch;
};

// Runs inside sqlite3_close(), or the last sqlite3_finalize() of a zombie: it only sets flags.
void connection_closed(void* argument) {
  auto* registration = static_cast<Registration*>(argument);
  registration->watch->gone.store(true, std::memory_order_release);
  if (registration->watch->guards.load(std::memory_order_acquire) > 0) {
    closed.fetch_add(1, std::memory_order_release);
  }
  delete registration;
}

// Only its destructor matters; called, it returns NULL.
void watch_function(sqlite3_context*, int, sqlite3_value**) {}

const char* function_name() noexcept {
  static char name[48];
  static const int length = std::snprintf(name, sizeof(name), "walguard_watch_%zx",
                                          reinterpret_cast<std::size_t>(&closed));
  (void)length;
  return name;
}

void prune(Watched& all) {
  if (all.connections.size() < all.prune_at) return;
  std::erase_if(all.connections, [](const auto& entry) { return entry.second.expired(); });
  all.prune_at = all.connections.size() * 2 + 64;
}

}  // namespace

std::shared_ptr<ConnectionWatch> watch_connection(const SqliteApi& sqlite, sqlite3* db,
                                                  int& sqlite_code) {
  sqlite_code = SQLITE_OK;
  Watched& all = watched();
  {
    const std::lock_guard lock(all.mutex);
    prune(all);
    if (const auto known = all.connections.find(db); known != all.connections.end()) {
      Reference watch = known->second.lock();
      if (watch != nullptr && !watch->gone.load(std::memory_order_acquire)) return watch;
    }
  }
  auto watch = std::make_shared<ConnectionWatch>();
  auto* registration = new Registration{watch};
  // On failure SQLite calls the destructor itself.
  sqlite_code =
      sqlite.create_function_v2(db, function_name(), 0, SQLITE_UTF8 | SQLITE_DIRECTONLY,
                                registration, watch_function, nullptr, nullptr, connection_closed);
  if (sqlite_code != SQLITE_OK) return nullptr;
  const std::lock_guard lock(all.mutex);
  all.connections.insert_or_assign(db, watch);
  return watch;
}

std::uint64_t closed_while_guarded() noexcept { return closed.load(std::memory_order_acquire); }

}  // namespace walguard::guard
