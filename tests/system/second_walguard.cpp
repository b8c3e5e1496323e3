// SPDX-License-Identifier: MIT
// A plugin with a walguard of its own, linked in statically.
#include "walguard/host_sqlite.hpp"

#define PLUGIN extern "C" __attribute__((visibility("default")))

PLUGIN void* plugin_hold(sqlite3* db) {
  try {
    return new walguard::WalGuard(walguard::hold(db));
  } catch (const walguard::Error&) {
    return nullptr;
  }
}
PLUGIN void plugin_release(void* guard) { delete static_cast<walguard::WalGuard*>(guard); }
