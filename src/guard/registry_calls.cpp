// SPDX-License-Identifier: MIT
// What a guard that is held can be asked.
#include "guard/arming_failure.hpp"
#include "guard/failure.hpp"
#include "guard/registry.hpp"
#include "guard/registry_session.hpp"
#include "guard/sqlite_files.hpp"

namespace walguard::guard {

bool Registry::refresh(Handle& handle) {
  if (!current(handle)) return false;
  Session session(*this);
  settle(session);
  if (!handle.held) {
    if (!handle.gone) return false;
    handle.gone = false;  // told once
    fail(errc::connection_gone, "refresh", handle.record->paths.db);
  }
  const RecordPtr record = handle.record;
  if (record->pauses > 0) return false;
  // An unarmed database has no generation that could be lost.
  const Verdict found =
      record->unarmed ? Verdict::not_held : verdict(*record, look_at_paths(record->paths));
  if (is_loss(found)) mark_lost(session, *record, found);
  if (record->lost) {
    fail(errc::generation_lost, "refresh", record->paths.db,
         "the files at the path are not the ones in use here");
  }
  // Not armed: the database left WAL mode in a pause, or the end of the pause met a foreign lock.
  if (!record->armed && rearm(session, record) == Resumed::unarmed) return false;
  switch (alive(*record)) {
    case Alive::gone:
      orphan_all(session, *record);
      handle.gone = false;
      fail(errc::connection_gone, "refresh", record->paths.db);
    case Alive::descriptors_closed:
      session.tell(EventKind::descriptors_closed, record->paths.db,
                   "somebody closed descriptors that belong to SQLite: reopen the connection",
                   errc::descriptors_closed);
      fail(errc::descriptors_closed, "refresh", record->paths.db,
           "somebody closed descriptors that belong to SQLite: reopen the connection");
    case Alive::unknown: return true;  // a thread with a descriptor table of its own cannot heal
    case Alive::yes: break;
  }
  if (place_.place() == os::PrivateDescriptors::Place::process) {
    bool reopened = false;
    const Arming::Outcome outcome = arming_.relock(*record, reopened);
    if (outcome.error != 0) throw failure_of(outcome, "refresh");
    if (reopened) {
      session.tell(EventKind::guard_relocked, record->paths.db,
                   "somebody closed the guard's own descriptors; they are open and locked again");
    }
  }
  heal_record(session, *record);
  return true;
}

CheckResult Registry::check(const Handle& handle) {
  CheckResult result;
  if (!current(handle)) return result;
  Session session(*this);
  if (!handle.held) {
    if (handle.gone) result.verdict = Verdict::connection_gone;
    return result;
  }
  Record& record = *handle.record;
  result.held = record.generation;
  if (record.pauses > 0 || record.unarmed) return result;
  const PathLook now = look_at_paths(record.paths);
  result.found = {now.db.identity, now.wal.identity, now.shm.identity};
  result.verdict = verdict(record, now);
  if (is_loss(result.verdict)) mark_lost(session, record, result.verdict);
  if (result.verdict != Verdict::intact) return result;
  switch (alive(record)) {
    case Alive::gone: result.verdict = Verdict::connection_gone; break;
    case Alive::descriptors_closed: result.verdict = Verdict::descriptors_closed; break;
    case Alive::unknown:
    case Alive::yes: break;
  }
  return result;
}

void Registry::release(Handle& handle, std::error_code& error) {
  error.clear();
  if (!current(handle)) return;
  Session session(*this);
  settle(session);
  if (!handle.held) {
    if (handle.gone) error = errc::connection_gone;
    handle.gone = false;
    return;
  }
  const RecordPtr record = handle.record;
  // Only the last one need look: the locks stay for the others.
  if (record->handles.size() == 1 && !record->lost && !record->unarmed && record->pauses == 0) {
    const Alive now = alive(*record);
    if (now == Alive::descriptors_closed) error = errc::descriptors_closed;
    if (now == Alive::gone) {
      orphan_all(session, *record);
      handle.gone = false;
      error = errc::connection_gone;
      return;
    }
  }
  detach(handle);
  drop_if_last(session, record);
}

void Registry::pause(Handle& handle) {
  if (!current(handle)) fail(errc::not_held, "pause", {});
  Session session(*this);
  settle(session);
  if (!handle.held) fail(errc::not_held, "pause", handle.record->paths.db);
  Record& record = *handle.record;
  if (record.pauses == 0 && record.armed) {
    // SQLite's own locks first, so that nobody finds the file without any.
    if (!record.lost && alive(record) == Alive::yes) heal_record(session, record);
    arming_.unlock(record);
  }
  ++record.pauses;
  ++handle.pauses;
}

Resumed Registry::resume(Handle& handle) {
  if (!current(handle)) return Resumed::not_held;
  Session session(*this);
  settle(session);
  if (!handle.held || handle.pauses == 0) return Resumed::not_held;
  const RecordPtr record = handle.record;
  --record->pauses;
  --handle.pauses;
  if (record->pauses > 0) return Resumed::still_paused;
  if (record->lost) fail(errc::generation_lost, "resume", record->paths.db);
  try {
    return rearm(session, record);
  } catch (const Error& error) {
    session.tell(EventKind::pause_not_resumed, record->paths.db, error.what(), error.code());
    throw;
  }
}

// Ends a pause: learns anew what SQLite has open and mapped, and compares the path against that.
Resumed Registry::rearm(Session& session, const RecordPtr& record) {
  const PathLook now = look_at_paths(record->paths);
  const Generation found{now.db.identity, now.wal.identity, now.shm.identity};
  const bool paths_say_the_same = !suspicious(record->generation, now);
  const bool unreachable = now.db.error != 0 || look_at("/").identity != root_;
  if (!record->unarmed && (paths_say_the_same || unreachable) && alive(*record) == Alive::yes) {
    bool reopened = false;
    const Arming::Outcome outcome = arming_.relock(*record, reopened);
    if (outcome.error == 0) return Resumed::same_generation;
    throw failure_of(outcome, "resume");  // not armed: the next refresh tries again
  }
  if (could_not_look(now.db)) fail_io("stat", record->paths.db, now.db.error);
  if (could_not_look(now.wal)) fail_io("stat", record->paths.wal, now.wal.error);
  if (could_not_look(now.shm)) fail_io("stat", record->paths.shm, now.shm.error);
  SqliteDescriptors sqlite;
  if (const int error = find_descriptors(found, sqlite); error != 0) {
    fail_io("list descriptors", record->paths.db, error);
  }
  Mapped mapped = Mapped::none;
  const FileIdentity shm = now.shm.error != 0 ? record->generation.shm : found.shm;
  if (const int error = mapped_shm(record->paths.shm, shm, nullptr, mapped); error != 0) {
    fail_io("read mappings", record->paths.shm, error);
  }
  const bool stale_mapping =
      mapped == Mapped::another || (mapped == Mapped::this_one && now.shm.error != 0);
  if (stale_mapping || (found.db != record->generation.db && sqlite.db < 0 &&
                        is_file(record->sqlite.db, record->generation.db))) {
    mark_lost(session, *record, Verdict::shm_replaced);
    fail(errc::generation_lost, "resume", record->paths.db,
         "SQLite is still on files that are no longer at the path");
  }
  if (mapped == Mapped::none || sqlite.db < 0 || sqlite.shm < 0) {
    unarm(session, *record);
    return Resumed::unarmed;
  }
  // Another generation, which this process has open and mapped.
  arming_.disarm(*record);
  const FileIdentity before = record->generation.db;
  const bool changed = !(record->generation == found);
  record->generation = found;
  record->sqlite = sqlite;
  if (before != found.db) {
    records_.erase(before);
    if (!records_.try_emplace(found.db, record).second) {
      record->unarmed = true;
      fail(errc::generation_lost, "resume", record->paths.db,
           "the file that is at the path now is guarded by others: release and hold again");
    }
  }
  const Arming::Outcome outcome = arming_.arm(*record, true);
  if (outcome.error != 0) throw failure_of(outcome, "resume");
  record->unarmed = false;
  if (!changed) return Resumed::same_generation;
  session.tell(EventKind::generation_changed, record->paths.db,
               "guarded again, on another WAL generation than before the pause");
  return Resumed::new_generation;
}

GuardState Registry::state(const Handle& handle) {
  Session session(*this);
  if (!handle.held) return GuardState::released;
  const Record& record = *handle.record;
  if (record.lost) return GuardState::lost;
  if (record.pauses > 0) return GuardState::paused;
  return record.armed ? GuardState::guarded : GuardState::unarmed;
}

Mechanism Registry::mechanism() noexcept {
  return place_.place() == os::PrivateDescriptors::Place::keeper ? Mechanism::keeper
                                                                 : Mechanism::process;
}

std::vector<FileStatus> Registry::status() {
  Session session(*this);
  settle(session);
  std::vector<FileStatus> lines;
  for (const auto& [identity, record] : records_) {
    FileStatus line;
    line.path = record->paths.db;
    line.generation = record->generation;
    line.handles = record->handles.size();
    line.locks_healed = record->locks_healed;
    line.shm_read_only = record->set.shm_read_only;
    line.state = record->lost         ? GuardState::lost
                 : record->pauses > 0 ? GuardState::paused
                 : record->armed      ? GuardState::guarded
                                      : GuardState::unarmed;
    lines.push_back(std::move(line));
  }
  for (const Parked& parked : arming_.parked()) {
    FileStatus line;
    line.path = parked.path;
    line.generation.db = parked.db;
    line.parked = true;
    lines.push_back(std::move(line));
  }
  return lines;
}

void Registry::tidy() {
  Session session(*this);
  settle(session);
}

std::size_t Registry::collect() {
  Session session(*this);
  std::size_t orphans = settle(session);
  std::vector<RecordPtr> all;
  for (const auto& [identity, record] : records_) all.push_back(record);
  for (const RecordPtr& record : all) {
    if (record->pauses > 0 || alive(*record) != Alive::gone) continue;
    orphans += record->handles.size();
    orphan_all(session, *record);
  }
  arming_.collect_parked();
  return orphans;
}

void Registry::expect_gone(Handle& handle, std::function<void()> after_gone) {
  if (!current(handle)) return;
  Session session(*this);
  handle.after_gone = std::move(after_gone);
  if (!handle.held) session.afterwards(std::move(handle.after_gone));
}

}  // namespace walguard::guard
