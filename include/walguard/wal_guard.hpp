// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <walguard/error.hpp>
#include <walguard/export.hpp>
#include <walguard/generation.hpp>
#include <walguard/sqlite_api.hpp>

namespace walguard {

struct HoldOptions {
  // How long to wait for a foreign exclusive lock to pass (a last close, a journal_mode change).
  // 0: one try, no wait.
  std::chrono::milliseconds timeout{2000};
};

// Where the guard's own descriptors live.
enum class Mechanism : int {
  keeper = 1,   // in a descriptor table of their own, kept by a thread: out of everybody's reach
  process = 2,  // in the process's table, never closed while that could cancel a lock of SQLite's
  none = 3,     // not supported here, or switched off with WALGUARD=off
};

enum class GuardState : int {
  released = 0,  // holds nothing
  guarded = 1,   // the locks are held
  paused = 2,    // some handle of the database is paused: nothing is held meanwhile
  unarmed = 3,   // the database left WAL mode during a pause: there is nothing to guard
  lost = 4,      // the generation is lost (sticky until the last handle of the file is gone)
  inert = 5,     // this is a forked child: the guard belongs to the parent
  off = 6,       // WALGUARD=off
};

enum class Verdict : int {
  intact = 0,
  not_held = 1,              // released, paused, unarmed, inert or off: nothing was looked at
  moved_or_unreachable = 2,  // the path cannot be resolved; no evidence of a loss
  db_unlinked = 3,
  db_replaced = 4,
  wal_unlinked = 5,
  wal_replaced = 6,
  shm_unlinked = 7,
  shm_replaced = 8,
  descriptors_closed = 9,  // SQLite's own descriptors were closed by somebody else
  connection_gone = 10,    // the connection was closed before its guard was released
};

struct CheckResult {
  Verdict verdict = Verdict::not_held;
  Generation held;   // what the guard keeps alive
  Generation found;  // what is at the path now
  [[nodiscard]] bool intact() const noexcept { return verdict == Verdict::intact; }
};

// What leaving a pause found.
enum class Resumed : int {
  same_generation = 0,
  new_generation = 1,  // guarded again, on other -wal and -shm inodes than before
  unarmed = 2,         // not WAL any more: nothing to guard
  still_paused = 3,    // another pause of this database is still open
  not_held = 4,        // the guard was released meanwhile, or this is a forked child
};

// One line of WalGuard::status().
struct FileStatus {
  std::string path;
  Generation generation;
  GuardState state = GuardState::released;
  std::size_t handles = 0;         // guards on this database in this process
  std::uint64_t locks_healed = 0;  // how often SQLite's own locks had to be taken again
  bool parked = false;             // a descriptor without a lock waits for reuse (process table)
  bool shm_read_only = false;      // -shm could only be opened for reading: containment is weaker
};

namespace guard {
class Handle;
}

class WalGuard;

// A scope in which the database is unguarded, so that journal_mode=DELETE, a suspension of the
// process or a replacement of the files can happen. Movable; ends in resume() or the destructor.
class WALGUARD_API Pause {
 public:
  Pause() noexcept;
  Pause(Pause&&) noexcept;
  Pause& operator=(Pause&&) noexcept;
  ~Pause();  // resume(); a failure becomes an event (EventKind::pause_not_resumed)

  // Ends the pause: learns anew what SQLite has open and mapped, compares the path against that,
  // and guards again. Throws Error (generation_lost, lock_busy, ...): then nothing is held.
  Resumed resume();

 private:
  friend class WalGuard;
  explicit Pause(std::shared_ptr<guard::Handle>) noexcept;
  std::shared_ptr<guard::Handle> handle_;
};

// Keeps a live WAL alive. While any guard of a database exists in this process, two open file
// description (OFD) read locks are held on private descriptors: SQLite's SHARED range on the
// database and the deadman switch on its -shm. POSIX locks of SQLite's that a stray close in this
// process cancels no longer decide whether another process may delete or truncate the files.
//
// Protected: -wal and -shm are not unlinked, -shm is not truncated, for as long as the guard holds.
// Not protected: locks inside a transaction (WRITE, CKPT, RECOVER, READn) and rollback-journal
// mode; `rm` and rename by hand (noticed by check(), not prevented).
//
// Release the guard just before the connection's own close: while it is held nobody, this process
// included, can delete the sidecars or leave WAL mode (SQLITE_BUSY).
//
// Thread-safe (one internal mutex); release may come from any thread and never touches the
// connection. Counted per database inode. In a forked child every guard is inert: it holds,
// releases and unlocks nothing, and the parent's is untouched; a hold() there starts afresh.
class WALGUARD_API WalGuard {
 public:
  WalGuard() noexcept;  // holds nothing
  WalGuard(WalGuard&&) noexcept;
  WalGuard& operator=(WalGuard&&) noexcept;
  ~WalGuard();  // release()

  // Guards the database `schema` of the connection. Runs one trivial read on it, so call it where
  // the connection may be used, and registers an SQL function (walguard_watch_...) on it, whose
  // destructor tells that the connection has been closed. `db` is not touched after this returns.
  // All or nothing: a failure leaves no lock, no descriptor and no count. Throws Error; see errc.
  [[nodiscard]] static WalGuard hold(const SqliteApi& sqlite, sqlite3* db,
                                     std::string_view schema = "main",
                                     const HoldOptions& options = {});

  // The same for hosts that give out no sqlite3*: `path` must be open and its -shm mapped in this
  // process, which is verified in /proc/self (errc::not_open_here, errc::shm_not_mapped).
  [[nodiscard]] static WalGuard hold_path(std::string_view path, const HoldOptions& options = {});

  // Verifies that the files at the path are the guarded ones, takes SQLite's own read locks again
  // where a stray close has cancelled them, and the guard's own where anybody could have reached
  // them. Costs a few stat and fcntl calls. On a guard that holds nothing it does nothing and
  // returns false. Throws Error: generation_lost, descriptors_closed, connection_gone, io_error.
  bool refresh();
  bool refresh(std::error_code& error) noexcept;

  // Looks without changing anything: stat calls only.
  [[nodiscard]] CheckResult check() const noexcept;

  // Stands down: SQLite's own locks are healed first, so that there is no unlocked gap; the last
  // guard of a database unlocks. Idempotent. The second form tells what was found on the way
  // (connection_gone, descriptors_closed); the guard is released in any case.
  void release() noexcept;
  void release(std::error_code& error) noexcept;

  // See Pause. Throws Error(not_held) on a guard that holds nothing.
  [[nodiscard]] Pause pause();

  [[nodiscard]] GuardState state() const noexcept;
  [[nodiscard]] std::string path() const;  // the database, as SQLite names it

  // Runs `cleanup`, with no mutex held, when the connection is found closed; until then this guard
  // stays held, and its going is no error. For connections that are closed by sqlite3_close_v2()
  // with statements in use. Called by GuardedConnection. A guard that holds nothing runs it at
  // once.
  void on_connection_gone(std::function<void()> cleanup);

  // Whether this build can guard on this system at all.
  [[nodiscard]] static bool supported() noexcept;
  // Where descriptors live, or would at the next hold().
  [[nodiscard]] static Mechanism mechanism() noexcept;
  // Every database that this process guards or has a parked descriptor of.
  [[nodiscard]] static std::vector<FileStatus> status();
  // Notices connections that were closed without a release, closes parked descriptors that may be
  // closed, removes the sidecars of ended zombies. Returns how many guards it found orphaned.
  // Every other call does the same for the database that it is about.
  static std::size_t collect() noexcept;

 private:
  explicit WalGuard(std::shared_ptr<guard::Handle>) noexcept;
  std::shared_ptr<guard::Handle> handle_;
};

}  // namespace walguard
