// SPDX-License-Identifier: MIT
#include "walguard/guarded_connection.hpp"

#include <sqlite3.h>

#include <mutex>
#include <utility>

#include "guard/failure.hpp"
#include "guard/registry.hpp"
#include "os/fork_epoch.hpp"

namespace walguard {

using guard::fail;
using guard::Registry;

struct GuardedConnection::State {
  SqliteApi sqlite;
  std::string path;
  ConnectionOptions options;
  std::uint64_t epoch = os::fork_epoch();
  mutable std::recursive_mutex mutex;  // an event sink may come back in on the same thread
  sqlite3* db = nullptr;
  WalGuard guard;

  // SQLite forbids to use, and so to close, a connection that was carried over a fork.
  [[nodiscard]] bool usable() const noexcept { return db != nullptr && epoch == os::fork_epoch(); }
  void open_and_hold();
  void hold() { guard = WalGuard::hold(sqlite, db, "main", options.hold); }
  // False: SQLite refused, the connection is open and guarded as before.
  [[nodiscard]] bool try_close();
  void become_zombie();
};

namespace {

[[noreturn]] void fail_sqlite(const SqliteApi& sqlite, sqlite3* db, int code, const char* operation,
                              const std::string& path) {
  ErrorDetail detail{
      .operation = operation, .path = path, .advice = {}, .range = {}, .holder_pid = {}};
  if (const char* text = db != nullptr ? sqlite.errmsg(db) : nullptr; text != nullptr) {
    detail.advice = text;
  }
  detail.sqlite_code = code;
  throw Error(errc::sqlite_error, std::move(detail));
}

int run(const SqliteApi& sqlite, sqlite3* db, const char* sql) {
  sqlite3_stmt* statement = nullptr;
  int code = sqlite.prepare_v2(db, sql, -1, &statement, nullptr);
  if (code != SQLITE_OK) return code;
  do {
    code = sqlite.step(statement);
  } while (code == SQLITE_ROW);
  sqlite.finalize(statement);
  return code == SQLITE_DONE ? SQLITE_OK : code;
}

// A zombie closes its files while it is guarded, so its last close leaves the sidecars; one more
// connection, closed without a guard, removes them.
void remove_left_sidecars(const SqliteApi& sqlite, const std::string& path, int flags,
                          const std::string& vfs) {
  sqlite3* db = nullptr;
  flags &= ~SQLITE_OPEN_CREATE;
  if (sqlite.open_v2(path.c_str(), &db, flags, vfs.empty() ? nullptr : vfs.c_str()) == SQLITE_OK) {
    (void)run(sqlite, db, "PRAGMA schema_version");
  }
  sqlite.close(db);
}

}  // namespace

void GuardedConnection::State::open_and_hold() {
  sqlite3* opened = nullptr;
  const char* vfs = options.vfs.empty() ? nullptr : options.vfs.c_str();
  int code = sqlite.open_v2(path.c_str(), &opened, options.flags, vfs);
  try {
    if (code != SQLITE_OK) fail_sqlite(sqlite, opened, code, "open", path);
    sqlite.busy_timeout(opened, options.busy_timeout_ms);
    if (options.set_wal) {
      code = run(sqlite, opened, "PRAGMA journal_mode=WAL");
      if (code != SQLITE_OK) fail_sqlite(sqlite, opened, code, "PRAGMA journal_mode=WAL", path);
    }
    guard = WalGuard::hold(sqlite, opened, "main", options.hold);
  } catch (...) {
    sqlite.close(opened);
    throw;
  }
  db = opened;
}

bool GuardedConnection::State::try_close() {
  if (sqlite.next_stmt(db, nullptr) != nullptr) return false;  // known before anything is let go
  // A stale handle's close must not checkpoint its frames over its successor's commits.
  if (guard.state() == GuardState::lost) {
    sqlite.db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  }
  guard.release();
  if (const int code = sqlite.close(db); code != SQLITE_OK) {  // an unfinished backup
    hold();
    return false;
  }
  db = nullptr;
  Registry::instance().tidy();
  return true;
}

void GuardedConnection::State::become_zombie() {
  auto held = std::make_shared<WalGuard>(std::move(guard));
  held->on_connection_gone(
      [held, api = sqlite, file = path, flags = options.flags, vfs = options.vfs] {
        held->release();
        remove_left_sidecars(api, file, flags, vfs);
      });
  sqlite.close_v2(db);
  db = nullptr;
}

GuardedConnection::GuardedConnection() noexcept = default;
GuardedConnection::GuardedConnection(std::unique_ptr<State> state) noexcept
    : state_(std::move(state)) {}
GuardedConnection::GuardedConnection(GuardedConnection&&) noexcept = default;
GuardedConnection& GuardedConnection::operator=(GuardedConnection&& other) noexcept {
  if (this != &other) {
    close_deferred();
    state_ = std::move(other.state_);
  }
  return *this;
}
GuardedConnection::~GuardedConnection() { close_deferred(); }

GuardedConnection GuardedConnection::open(const SqliteApi& sqlite, const std::string& path,
                                          const ConnectionOptions& options) {
  auto state = std::make_unique<State>();
  state->sqlite = sqlite;
  state->path = path;
  state->options = options;
  state->open_and_hold();
  return GuardedConnection(std::move(state));
}

GuardedConnection GuardedConnection::adopt(const SqliteApi& sqlite, sqlite3* db,
                                           const ConnectionOptions& options) {
  auto state = std::make_unique<State>();
  state->sqlite = sqlite;
  state->options = options;
  if (db == nullptr) fail(errc::invalid_argument, "adopt", {}, "no connection");
  if (const char* file = sqlite.db_filename(db, "main"); file != nullptr) state->path = file;
  state->guard = WalGuard::hold(sqlite, db, "main", options.hold);
  state->db = db;
  return GuardedConnection(std::move(state));
}

sqlite3* GuardedConnection::handle() const noexcept {
  if (!state_) return nullptr;
  const std::lock_guard lock(state_->mutex);
  return state_->db;
}

GuardState GuardedConnection::state() const noexcept {
  if (!state_) return GuardState::released;
  const std::lock_guard lock(state_->mutex);
  return state_->guard.state();
}

CheckResult GuardedConnection::check() const noexcept {
  if (!state_) return {};
  const std::lock_guard lock(state_->mutex);
  return state_->guard.check();
}

Pause GuardedConnection::pause() {
  if (!state_) fail(errc::not_held, "pause", {});
  const std::lock_guard lock(state_->mutex);
  return state_->guard.pause();
}

bool GuardedConnection::refresh() {
  if (!state_) return false;
  const std::lock_guard lock(state_->mutex);
  return state_->usable() && state_->guard.refresh();
}

CheckpointResult GuardedConnection::checkpoint(CheckpointMode mode) {
  CheckpointResult result;
  result.skipped = true;
  if (!state_) return result;
  State& state = *state_;
  const std::lock_guard lock(state.mutex);
  if (!state.usable()) return result;
  state.guard.refresh();
  if (!state.usable()) return result;  // closed by an event sink
  result.skipped = false;
  const int code = state.sqlite.wal_checkpoint_v2(state.db, "main", static_cast<int>(mode),
                                                  &result.log_frames, &result.checkpointed_frames);
  if (code == SQLITE_BUSY) {
    result.busy = true;
  } else if (code != SQLITE_OK) {
    fail_sqlite(state.sqlite, state.db, code, "checkpoint", state.path);
  }
  return result;
}

void GuardedConnection::close() {
  if (!state_) return;
  const std::lock_guard lock(state_->mutex);
  if (!state_->usable()) return;
  if (!state_->try_close()) {
    fail(errc::connection_busy, "close", state_->path,
         "finalize its statements, finish its backups, or use close_deferred()");
  }
}

void GuardedConnection::close_deferred() noexcept {
  if (!state_) return;
  const std::lock_guard lock(state_->mutex);
  if (!state_->usable()) return;
  try {
    if (!state_->try_close()) state_->become_zombie();
  } catch (...) {
    // Neither memory for the zombie's record nor a guard: what is left is to close.
    if (state_->db != nullptr) state_->sqlite.close_v2(state_->db);
    state_->db = nullptr;
  }
}

void GuardedConnection::reopen() {
  if (!state_) fail(errc::not_held, "reopen", {}, "this object was never opened");
  const std::lock_guard lock(state_->mutex);
  if (state_->usable() && !state_->try_close()) {
    fail(errc::connection_busy, "reopen", state_->path, "finalize its statements first");
  }
  state_->db = nullptr;
  state_->epoch = os::fork_epoch();
  state_->open_and_hold();
}

}  // namespace walguard
