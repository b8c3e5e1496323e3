// SPDX-License-Identifier: MIT
#include "guard/registry.hpp"

#include <atomic>
#include <cerrno>

#include "guard/arming_failure.hpp"
#include "guard/connection_watch.hpp"
#include "guard/failure.hpp"
#include "guard/healing.hpp"
#include "guard/registry_session.hpp"
#include "guard/sqlite_files.hpp"
#include "os/descriptor_table.hpp"
#include "os/fork_epoch.hpp"
#include "os/syscalls.hpp"

namespace walguard::guard {

namespace {

Paths paths_of(const Target& target) {
  return {target.db_path, target.db_path + "-wal", target.db_path + "-shm"};
}

}  // namespace

Registry::Registry()
    : seen_closed_(closed_while_guarded()),
      root_(look_at("/").identity),
      pid_(os::sys().getpid()) {}

Registry& Registry::instance() {
  struct Slot {
    std::uint64_t epoch;
    Registry registry;
  };
  static std::atomic<Slot*> slot{new Slot{os::fork_epoch(), {}}};
  Slot* mine = slot.load(std::memory_order_acquire);
  const std::uint64_t epoch = os::fork_epoch();
  if (mine->epoch == epoch) return mine->registry;
  auto* fresh = new Slot{epoch, {}};
  if (slot.compare_exchange_strong(mine, fresh)) return fresh->registry;
  delete fresh;
  return mine->registry;
}

bool Registry::current(const Handle& handle) noexcept {
  return handle.epoch == os::fork_epoch() && handle.record != nullptr;
}

void Registry::bury(const RecordPtr& record) {
  arming_.disarm(*record);
  records_.erase(record->generation.db);
  --tombstones_;
}

// Notices what happened behind our back since the last call. Returns how many guards were orphaned.
std::size_t Registry::settle(Session& session) {
  if (place_.take_fallback_notice()) {
    session.tell(EventKind::fallback, {},
                 "a private descriptor table was refused; the guard's descriptors are in the "
                 "process's own table and are never closed while that could cancel a lock");
  }
  if (tombstones_ > 0) {
    std::vector<RecordPtr> ended;
    for (const auto& [identity, record] : records_) {
      if (record->handles.empty() && alive(*record) == Alive::gone) ended.push_back(record);
    }
    for (const RecordPtr& record : ended) bury(record);
  }
  arming_.collect_parked();
  const std::uint64_t closed = closed_while_guarded();
  if (closed == seen_closed_) return 0;
  seen_closed_ = closed;
  std::vector<Handle*> gone;
  for (const auto& [identity, record] : records_) {
    for (Handle* handle : record->handles) {
      if (handle->watch && handle->watch->gone.load(std::memory_order_acquire)) {
        gone.push_back(handle);
      }
    }
  }
  for (Handle* handle : gone) orphan(session, *handle);
  return gone.size();
}

// Whether SQLite still has the files open, by the numbers it had; a new look for others if not.
Registry::Alive Registry::alive(Record& record) {
  const Generation& held = record.generation;
  if (is_file(record.sqlite.db, held.db) && is_file(record.sqlite.shm, held.shm)) return Alive::yes;
  if (!os::shares_process_table()) return Alive::unknown;
  SqliteDescriptors found;
  if (find_descriptors(held, found) != 0) return Alive::unknown;
  if (found.db >= 0 && found.shm >= 0) {
    record.sqlite = found;
    return Alive::yes;
  }
  Mapped mapped = Mapped::none;
  if (mapped_shm(record.paths.shm, held.shm, nullptr, mapped) != 0) return Alive::unknown;
  return mapped == Mapped::this_one ? Alive::descriptors_closed : Alive::gone;
}

Verdict Registry::verdict(const Record& record, const PathLook& now) {
  if (!suspicious(record.generation, now)) return Verdict::intact;
  const bool same_root = look_at("/").identity == root_;
  return judge(record.generation, now, arming_.pinned_names(record), same_root);
}

void Registry::mark_lost(Session& session, Record& record, Verdict) {
  if (record.lost) return;
  record.lost = true;
  session.tell(EventKind::generation_lost, record.paths.db,
               "the files at the path are not the ones in use here; do not close, checkpoint or "
               "delete anything before the rows are safe",
               errc::generation_lost);
}

void Registry::heal_record(Session& session, Record& record) {
  const Healed healed = heal(record, pid_);
  if (!healed.any) return;
  ++record.locks_healed;
  session.tell(EventKind::locks_healed, record.paths.db,
               "a close() of the file elsewhere in this process had cancelled SQLite's locks; they "
               "are held again");
}

void Registry::attach(const RecordPtr& record, const std::shared_ptr<Handle>& handle) {
  handle->epoch = os::fork_epoch();
  handle->record = record;
  handle->index = record->handles.size();
  record->handles.push_back(handle.get());
  handle->held = true;
  if (handle->watch) handle->watch->guards.fetch_add(1, std::memory_order_acq_rel);
}

void Registry::detach(Handle& handle) {
  Record& record = *handle.record;
  record.handles[handle.index] = record.handles.back();
  record.handles[handle.index]->index = handle.index;
  record.handles.pop_back();
  record.pauses -= handle.pauses;
  handle.pauses = 0;
  handle.held = false;
  if (handle.watch) handle.watch->guards.fetch_sub(1, std::memory_order_acq_rel);
}

void Registry::orphan(Session& session, Handle& handle) {
  const RecordPtr record = handle.record;
  detach(handle);
  if (handle.after_gone) {
    session.afterwards(std::move(handle.after_gone));
    handle.after_gone = nullptr;
  } else {
    handle.gone = true;
    session.tell(EventKind::connection_gone, record->paths.db,
                 "a connection was closed before its guard was released; the guard is gone, and "
                 "that close may have left -wal and -shm behind",
                 errc::connection_gone);
  }
  drop_if_last(session, record);
}

void Registry::orphan_all(Session& session, Record& record) {
  while (!record.handles.empty()) orphan(session, *record.handles.back());
}

// After a detach: ends the record with its last handle, or a pause with its last paused one.
void Registry::drop_if_last(Session& session, const RecordPtr& record) {
  if (!record->handles.empty()) {
    if (record->pauses == 0 && !record->armed && !record->unarmed && !record->lost) {
      try {
        rearm(session, record);
      } catch (const Error& error) {
        session.tell(EventKind::pause_not_resumed, record->paths.db, error.what(), error.code());
      }
    }
    return;
  }
  const bool open = alive(*record) == Alive::yes;
  if (open && record->armed && !record->lost) heal_record(session, *record);
  if (record->lost && open) {
    // The loss belongs to the inode: whoever opens it beside the stale connection is refused until
    // that is closed. The descriptors stay, without locks: they keep the inode number from being
    // given to another file.
    arming_.unlock(*record);
    ++tombstones_;
    return;
  }
  arming_.disarm(*record);
  records_.erase(record->generation.db);
}

void Registry::unarm(Session& session, Record& record) {
  arming_.disarm(record);
  if (!record.unarmed) {
    session.tell(EventKind::unarmed, record.paths.db,
                 "the database is not in WAL mode here any more: there is nothing to guard");
  }
  record.unarmed = true;
}

std::shared_ptr<Handle> Registry::hold(const Target& target) {
  Session session(*this);
  settle(session);
  const FileLook db = look_at(target.db_path.c_str());
  if (db.error != 0) {
    fail(errc::database_moved, "stat", target.db_path, "the database is not at its path", db.error);
  }
  if (!db.regular) fail(errc::database_moved, "stat", target.db_path, "not a regular file");
  if (db.names > 1) {
    fail(errc::hard_link, "hold", target.db_path,
         "whoever opens it by the other name uses other -wal and -shm files: remove that name");
  }
  auto handle = std::make_shared<Handle>();
  handle->watch = target.watch;

  auto known = records_.find(db.identity);
  if (known != records_.end()) {
    const RecordPtr record = known->second;
    const Alive now = alive(*record);
    if (now == Alive::gone) {
      orphan_all(session, *record);  // and so the record
    } else {
      if (now == Alive::descriptors_closed) {
        fail(errc::descriptors_closed, "hold", target.db_path);
      }
      record->handles.reserve(record->handles.size() + 1);
      hold_again(session, record, target);
      attach(record, handle);
      return handle;
    }
  }
  const RecordPtr record = hold_first(target, db.identity);
  try {
    record->handles.reserve(1);
    records_.emplace(db.identity, record);
  } catch (...) {
    arming_.disarm(*record);
    throw;
  }
  attach(record, handle);
  return handle;
}

void Registry::hold_again(Session& session, const RecordPtr& known, const Target& target) {
  Record& record = *known;
  if (record.pauses == 0 && !record.armed && !record.lost) {
    // It had left WAL mode; this connection has just read through a wal-index.
    record.paths = paths_of(target);
    if (rearm(session, known) == Resumed::unarmed) {
      fail(errc::shm_not_mapped, "hold", record.paths.shm);
    }
    return;
  }
  const PathLook now = look_at_paths(record.paths);
  if (const Verdict found = verdict(record, now); is_loss(found)) {
    mark_lost(session, record, found);
  }
  if (record.lost) {
    fail(errc::generation_lost, "hold", record.paths.db,
         "a connection here is on files that are no longer at the path; close it first");
  }
  if (record.pauses > 0) return;
  bool reopened = false;
  const Arming::Outcome outcome = arming_.relock(record, reopened);
  if (outcome.error != 0) throw failure_of(outcome, "hold");
}

bool Registry::guarded(const std::string& path) {
  const FileLook file = look_at(path.c_str());
  if (file.error != 0) return false;
  Session session(*this);
  const auto known = records_.find(file.identity);
  return known != records_.end() && known->second->armed && !known->second->handles.empty();
}

Registry::RecordPtr Registry::hold_first(const Target& target, FileIdentity db) {
  auto record = std::make_shared<Record>();
  record->paths = paths_of(target);
  record->generation = learn(target, record->paths, db, record->sqlite);
  const Arming::Outcome outcome = arming_.arm(*record, true);
  if (outcome.error != 0) throw failure_of(outcome, "hold");
  return record;
}

// Which generation this process is on, and that it is the one at the path. What makes it safe to
// take the deadman switch is that this process maps -shm; locks are no evidence.
Generation Registry::learn(const Target& target, const Paths& paths, FileIdentity db,
                           SqliteDescriptors& sqlite) {
  const FileLook wal = look_at(paths.wal.c_str());
  const FileLook shm = look_at(paths.shm.c_str());
  if (could_not_look(wal)) fail_io("stat", paths.wal, wal.error);
  if (could_not_look(shm)) fail_io("stat", paths.shm, shm.error);
  const Generation found{db, wal.identity, shm.identity};
  Mapped mapped = Mapped::none;
  if (const int error = mapped_shm(paths.shm, found.shm, target.shm_address, mapped); error != 0) {
    fail_io("read mappings", paths.shm, error);
  }
  if (mapped == Mapped::another) {
    fail(errc::generation_lost, "hold", paths.shm,
         "this process maps a -shm that is no longer at the path");
  }
  if (const int error = find_descriptors(found, sqlite); error != 0) {
    fail_io("list descriptors", paths.db, error);
  }
  if (sqlite.db < 0) {
    fail(errc::not_open_here, "hold", paths.db,
         "no descriptor of this process is open on the file at the path");
  }
  if (shm.error != 0 || mapped == Mapped::none) {
    fail(errc::shm_not_mapped, "hold", paths.shm,
         "use the connection first; without the wal-index mapped here a guard could do harm");
  }
  if (sqlite.shm < 0) {
    fail(errc::descriptors_closed, "hold", paths.shm, "-shm is mapped but not open here");
  }
  if (wal.error == ENOENT) {
    fail(errc::generation_lost, "hold", paths.wal,
         "a connection in WAL mode has a -wal open, and there is none at the path");
  }
  if (sqlite.wal < 0 && has_other_file_of_name(paths.wal, found.wal)) {
    fail(errc::generation_lost, "hold", paths.wal,
         "this process has a -wal open that is no longer at the path");
  }
  return found;
}

}  // namespace walguard::guard
