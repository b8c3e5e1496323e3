// SPDX-License-Identifier: MIT
#include "guard/healing.hpp"

#include <cerrno>
#include <vector>

#include "guard/file_look.hpp"
#include "os/descriptor_table.hpp"
#include "os/proc_files.hpp"
#include "os/record_lock.hpp"
#include "os/tracked_descriptors.hpp"
#include "sqlite_format/lock_bytes.hpp"

namespace walguard::guard {
namespace {

bool covers(const os::DescriptorLock& lock, ByteRange range) noexcept {
  return lock.kind == os::LockKind::posix && !lock.waiting && lock.range.offset <= range.offset &&
         (lock.range.length == 0 ||
          lock.range.offset + lock.range.length >= range.offset + range.length);
}

// POSIX locks show on the description that took them, which may be any of SQLite's on that file.
bool shows_on_a_descriptor(int first, FileIdentity identity, ByteRange range) {
  const auto shows = [&](int fd) {
    std::vector<os::DescriptorLock> locks;
    if (os::descriptor_locks(fd, locks) != 0) return false;
    for (const os::DescriptorLock& lock : locks) {
      if (covers(lock, range)) return true;
    }
    return false;
  };
  if (shows(first)) return true;
  bool found = false;
  (void)os::visit_own_descriptors([&](int fd) {
    found = fd != first && is_file(fd, identity) && shows(fd);
    return !found;
  });
  return found;
}

int heal_by(int fd, FileIdentity identity, ByteRange range, std::int64_t own_pid, bool& any) {
  os::Conflict conflict;
  if (const int error = os::conflict_with(fd, os::Asked::write_lock, range, conflict); error != 0) {
    return error;
  }
  // Our own process: the POSIX lock is there. Anybody else, or an OFD lock, only came first.
  if (conflict.found && conflict.pid == own_pid) return 0;
  if (shows_on_a_descriptor(fd, identity, range)) return 0;
  if (!os::shares_process_table()) return 0;
  const int error = os::posix_read_lock(fd, range);
  if (error == 0) any = true;
  return error;
}

int heal_one(int fd, FileIdentity identity, ByteRange range, std::int64_t own_pid, bool& any) {
  int error = heal_by(fd, identity, range, own_pid, any);
  if (error != EBADF) return error;
  // The number is another code's, open for writing only or O_PATH: any of SQLite's will do.
  (void)os::visit_own_descriptors([&](int other) {
    if (other != fd && is_file(other, identity) && !os::is_tracked(other)) {
      error = heal_by(other, identity, range, own_pid, any);
    }
    return error == EBADF;
  });
  return error;
}

}  // namespace

Healed heal(const Record& record, std::int64_t own_pid) {
  Healed result;
  if (!record.armed) return result;
  const int on_db =
      heal_one(record.sqlite.db, record.generation.db, sqlite_format::kShared, own_pid, result.any);
  const int on_shm = heal_one(record.sqlite.shm, record.generation.shm,
                              sqlite_format::kDeadmanSwitch, own_pid, result.any);
  result.error = on_db != 0 ? on_db : on_shm;
  return result;
}

}  // namespace walguard::guard
