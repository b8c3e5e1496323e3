// SPDX-License-Identifier: MIT
#include "guard/arming.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "guard/file_look.hpp"
#include "guard/lock_ranges.hpp"
#include "os/record_lock.hpp"
#include "sqlite_format/lock_bytes.hpp"

namespace walguard::guard {
namespace {

// A byte that neither SQLite nor a guard ever locks.
constexpr ByteRange kProbeByte{sqlite_format::kPendingByte + 1024, 1};

int pin_flags() noexcept {
#ifdef O_PATH
  return O_PATH;
#else
  return O_RDONLY;
#endif
}

}  // namespace

// Opens one file, or takes the parked descriptor of it. False: see outcome.
bool Arming::take(const std::string& path, FileIdentity wanted, FileIdentity db, int flags, int& fd,
                  bool& read_only, Outcome& outcome) {
  const auto spare = std::find_if(parked_.begin(), parked_.end(), [&](const Parked& parked) {
    return parked.identity == wanted && parked.db == db && !is_another(parked.fd, wanted);
  });
  if (spare != parked_.end() && flags != pin_flags()) {
    fd = spare->fd;
    read_only = spare->read_only;
    parked_.erase(spare);
    return true;
  }
  FileIdentity opened;
  fd = place_.open(path.c_str(), flags, opened);
  if (fd < 0 && flags == O_RDWR && (errno == EACCES || errno == EPERM || errno == EROFS)) {
    read_only = true;
    fd = place_.open(path.c_str(), O_RDONLY, opened);
  }
  if (fd < 0) {
    outcome = {.error = errno, .step = Step::open, .path = &path};
    return false;
  }
  if (opened != wanted) {
    // Not SQLite's file, so closing it cancels nothing of this database's; the parking rule holds
    // all the same, for it may be another database's.
    outcome = {.error = ESTALE, .step = Step::identify, .wrong_file = true, .path = &path};
    if (place_.may_close(fd, opened) || flags == pin_flags()) {
      place_.close(fd);
    } else {
      parked_.push_back({fd, opened, db, read_only, path});
    }
    fd = -1;
    return false;
  }
  return true;
}

void Arming::give_back(int& fd, FileIdentity identity, const Record& record,
                       const std::string& path, bool read_only) {
  if (fd < 0) return;
  if (is_another(fd, identity) || place_.may_close(fd, identity)) {
    place_.close(fd);  // which only forgets the number where it is another file's
  } else {
    parked_.push_back({fd, identity, record.generation.db, read_only, path});
  }
  fd = -1;
}

bool Arming::lock(const PrivateSet& set, const Paths& paths, Outcome& outcome) {
  ByteRange refused;
  const int error = lock_ranges(set.db, set.shm, refused);
  if (error == 0) return true;
  const bool on_db = refused == sqlite_format::kShared;
  outcome = {
      .error = error, .step = Step::lock, .path = on_db ? &paths.db : &paths.shm, .range = refused};
  os::Conflict conflict;
  if (os::conflict_with(on_db ? set.db : set.shm, os::Asked::read_lock, refused, conflict) == 0 &&
      conflict.found) {
    outcome.holder_pid = conflict.pid;
  }
  return false;
}

// A guard that silently protects nothing is worse than none: some file systems accept the commands
// and enforce nothing, or take one owner for the whole process.
bool Arming::prove(const Record& record, Outcome& outcome) {
  const bool keeper = place_.place() == os::PrivateDescriptors::Place::keeper;
  outcome = {.error = 0, .step = Step::probe, .path = &record.paths.db, .range = kProbeByte};
  // The second description: in the process's table SQLite's own serves (it is only asked), for one
  // of ours could not be closed again.
  int second = record.sqlite.db;
  if (keeper) {
    FileIdentity identity;
    second = place_.open(record.paths.db.c_str(), O_RDONLY, identity);
    if (second < 0) {
      outcome.error = errno;
      return false;
    }
  }
  os::Conflict conflict;
  outcome.error = os::ofd_read_lock(record.set.db, kProbeByte);
  if (outcome.error == 0) {
    outcome.error = os::conflict_with(second, os::Asked::write_lock, kProbeByte, conflict);
    // Twice, for a lock left on a parked descriptor would make a later probe see itself.
    if (os::ofd_unlock(record.set.db, kProbeByte) != 0) {
      (void)os::ofd_unlock(record.set.db, kProbeByte);
    }
  }
  if (keeper) place_.close(second);
  if (outcome.error == 0 && !conflict.found) {
    outcome.error = ENOTSUP;
    outcome.not_enforced = true;
  }
  return outcome.error == 0;
}

Arming::Outcome Arming::arm_here(Record& record, bool probe) {
  Outcome outcome;
  PrivateSet& set = record.set;
  const Generation& wanted = record.generation;
  bool ignored = false;
  const bool armed =
      take(record.paths.db, wanted.db, wanted.db, O_RDONLY, set.db, ignored, outcome) &&
      (!wanted.wal.known() ||
       take(record.paths.wal, wanted.wal, wanted.db, pin_flags(), set.wal, ignored, outcome)) &&
      take(record.paths.shm, wanted.shm, wanted.db, O_RDWR, set.shm, set.shm_read_only, outcome) &&
      lock(set, record.paths, outcome) && (!probe || prove(record, outcome));
  if (!armed) {
    disarm_here(record);
    return outcome;
  }
  record.armed = true;
  return {};
}

void Arming::disarm_here(Record& record) {
  PrivateSet& set = record.set;
  // Explicitly, since a parked descriptor is not closed. In the keeper's table the close would do.
  unlock_here(record);
  if (set.wal >= 0) place_.close(set.wal);  // O_PATH: closing it cancels no lock anywhere
  set.wal = -1;
  give_back(set.shm, record.generation.shm, record, record.paths.shm, set.shm_read_only);
  give_back(set.db, record.generation.db, record, record.paths.db, false);
  record.armed = false;
}

Arming::Outcome Arming::arm(Record& record, bool probe) {
  Outcome outcome;
  parked_.reserve(parked_.size() + 3);  // nothing may throw between open and close
  auto work = [&] { outcome = arm_here(record, probe); };
  if (const int error = place_.run(os::Work(work)); error != 0) {
    outcome = {.error = error, .step = Step::open, .path = &record.paths.db};
  }
  return outcome;
}

Arming::Outcome Arming::relock(Record& record, bool& reopened) {
  Outcome outcome;
  reopened = false;
  parked_.reserve(parked_.size() + 3);
  auto work = [&] {
    const bool exposed = place_.place() == os::PrivateDescriptors::Place::process;
    PrivateSet& set = record.set;
    if (set.db < 0) {  // an earlier attempt failed
      outcome = arm_here(record, false);
      return;
    }
    if (exposed &&
        (is_another(set.db, record.generation.db) || is_another(set.shm, record.generation.shm))) {
      reopened = true;
      disarm_here(record);
      outcome = arm_here(record, false);
      return;
    }
    // A call that failed has dropped nothing; a refusal shows that somebody else excludes us.
    record.armed = lock(set, record.paths, outcome) || (record.armed && outcome.error != EAGAIN);
  };
  if (const int error = place_.run(os::Work(work)); error != 0) {
    outcome = {.error = error, .step = Step::open, .path = &record.paths.db};
  }
  return outcome;
}

// In the process's table a number that somebody closed may be another file's by now, where an
// unlock could cancel another guard's lock.
void Arming::unlock_here(const Record& record) {
  const PrivateSet& set = record.set;
  const bool exposed = place_.place() == os::PrivateDescriptors::Place::process;
  const auto ours = [exposed](int fd, FileIdentity identity) {
    return fd >= 0 && (!exposed || !is_another(fd, identity));
  };
  unlock_ranges(ours(set.db, record.generation.db) ? set.db : -1,
                ours(set.shm, record.generation.shm) ? set.shm : -1);
}

void Arming::unlock(Record& record) {
  auto work = [&] { unlock_here(record); };
  if (place_.run(os::Work(work)) == 0) record.armed = false;
}

void Arming::disarm(Record& record) {
  auto work = [&] { disarm_here(record); };
  if (place_.run(os::Work(work)) != 0) record.armed = false;
}

PinnedNames Arming::pinned_names(const Record& record) {
  PinnedNames names;
  const auto ask = [](int fd, std::uint64_t& count) {
    if (fd < 0) return;
    const FileLook look = look_at(fd);
    if (look.error == 0) count = look.names;
  };
  auto work = [&] {
    ask(record.set.db, names.db);
    ask(record.set.wal, names.wal);
    ask(record.set.shm, names.shm);
  };
  (void)place_.run(os::Work(work));
  return names;
}

void Arming::collect_parked() {
  if (parked_.empty()) return;
  std::erase_if(parked_, [this](const Parked& parked) {
    if (!is_another(parked.fd, parked.identity) && !place_.may_close(parked.fd, parked.identity)) {
      return false;
    }
    place_.close(parked.fd);
    return true;
  });
}

}  // namespace walguard::guard
