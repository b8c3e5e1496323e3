// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include <walguard/error.hpp>
#include <walguard/export.hpp>
#include <walguard/sqlite_api.hpp>
#include <walguard/wal_guard.hpp>

namespace walguard {

struct ConnectionOptions {
  int flags = 0x00000002 | 0x00000004;  // SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
  std::string vfs;                      // empty: the default one
  int busy_timeout_ms = 5000;
  bool set_wal = false;  // run PRAGMA journal_mode=WAL after opening
  HoldOptions hold;
};

// What sqlite3_wal_checkpoint_v2() reported: frames in the WAL and frames already in the database.
struct CheckpointResult {
  bool skipped = false;  // the connection was closed: nothing was done
  bool busy = false;     // it could not run to completion because of a reader or writer
  int log_frames = -1;
  int checkpointed_frames = -1;
};

enum class CheckpointMode : int { passive = 0, full = 1, restart = 2, truncate = 3 };

// A connection and its guard, in the right order: the guard is held after the open and released
// just before the close. checkpoint, refresh, close and reopen share one mutex; the handle itself
// follows SQLite's threading rules. In a forked child it neither closes nor releases anything, as
// SQLite demands of connections that were carried over a fork.
class WALGUARD_API GuardedConnection {
 public:
  GuardedConnection() noexcept;
  GuardedConnection(GuardedConnection&&) noexcept;
  GuardedConnection& operator=(GuardedConnection&&) noexcept;
  // close(), and close_deferred() where that is refused.
  ~GuardedConnection();

  // Opens `path` (a URI where the flags say so) and guards it. Throws Error; nothing stays open.
  [[nodiscard]] static GuardedConnection open(const SqliteApi& sqlite, const std::string& path,
                                              const ConnectionOptions& options = {});
  // Takes over a connection that is open. On failure the caller still owns `db`.
  [[nodiscard]] static GuardedConnection adopt(const SqliteApi& sqlite, sqlite3* db,
                                               const ConnectionOptions& options = {});

  [[nodiscard]] sqlite3* handle() const noexcept;  // nullptr when closed
  [[nodiscard]] GuardState state() const noexcept;
  [[nodiscard]] CheckResult check() const noexcept;
  [[nodiscard]] Pause pause();

  bool refresh();  // as WalGuard::refresh(); false when closed

  // Refreshes, then checkpoints. On a closed connection does nothing (`skipped`). Throws Error.
  CheckpointResult checkpoint(CheckpointMode mode = CheckpointMode::passive);

  // Releases the guard and closes. Throws Error(connection_busy) while statements or backups are
  // in use: the connection is then still open and still guarded. Idempotent.
  void close();
  // sqlite3_close_v2(): with statements in use the connection becomes a zombie, which stays guarded
  // until its last statement is finalized and its files are closed. Its sidecars are then removed
  // by the next walguard call in this process.
  void close_deferred() noexcept;

  // close() and open() again with what open() was given; guarded again. Throws Error.
  void reopen();

 private:
  struct State;
  explicit GuardedConnection(std::unique_ptr<State>) noexcept;
  std::unique_ptr<State> state_;
};

}  // namespace walguard
