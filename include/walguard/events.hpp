// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <walguard/error.hpp>
#include <walguard/export.hpp>

namespace walguard {

enum class EventKind : int {
  locks_healed = 1,        // a stray close had cancelled SQLite's own locks; they are back
  guard_relocked = 2,      // one of the guard's own descriptors had been closed; it is back
  connection_gone = 3,     // a connection was closed before its guard was released
  descriptors_closed = 4,  // somebody closed descriptors that belong to SQLite
  generation_lost = 5,     // db, -wal or -shm was unlinked or replaced under a live connection
  generation_changed = 6,  // a pause ended on another generation than it began with
  unarmed = 7,             // a pause ended and the database is not in WAL mode any more
  fallback = 8,           // the keeper could not be started: descriptors are in the process's table
  pause_not_resumed = 9,  // leaving a pause could not guard the database again
  sidecars_left = 10,     // -wal and -shm of a closed zombie connection could not be removed
};

struct Event {
  EventKind kind;
  std::string path;      // the database, empty where the event is about no file
  std::string message;   // one sentence for a log
  std::error_code code;  // `errc`, or empty
};

using EventSink = std::function<void(const Event&)>;

// Adds a sink; every later event is passed to every sink. The library prints nothing itself.
// Sinks are called on whatever thread met the event, several at once, with no walguard mutex held,
// so they may call walguard. An exception that leaves a sink is swallowed. Thread-safe. A forked
// child inherits the sinks.
// Returns a number for remove_event_sink(); throws std::bad_alloc.
WALGUARD_API std::uint64_t add_event_sink(EventSink sink);

// Removes a sink. A call of it that is under way on another thread may still end after this
// returns. An unknown number is ignored.
WALGUARD_API void remove_event_sink(std::uint64_t id) noexcept;

}  // namespace walguard
