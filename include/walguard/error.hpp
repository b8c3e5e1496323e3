// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

#include <walguard/export.hpp>

namespace walguard {

// Why a call could not do what it was asked. The numbers are part of the ABI: they never change
// their meaning, new ones are added at the end, and the C interface returns the same ones.
enum class errc : int {
  no_database_file = 1,         // an in-memory or temporary database: there is no file to guard
  no_such_schema = 2,           // the connection has no attached database of that name
  not_wal = 3,                  // the database is not in WAL mode
  exclusive_locking_mode = 4,   // locking_mode=EXCLUSIVE: no -shm is shared, nothing to guard
  vfs_without_posix_locks = 5,  // opened through a VFS that does not lock with fcntl()
  immutable_database = 6,       // opened with immutable=1: SQLite takes no lock at all
  hard_link = 7,                // the database has a second name, hence a second set of sidecars
  database_moved = 8,           // the path does not lead to the file that the connection has open
  generation_lost = 9,          // db, -wal or -shm at the path is not the one in use here
  not_open_here = 10,           // by path: this process has no descriptor on that database
  shm_not_mapped = 11,          // this process has not mapped the -shm: guarding now could do harm
  lock_busy = 12,               // another process kept an exclusive lock for the whole time-out
  ofd_unsupported = 13,         // the kernel or the file system refuses open file description locks
  ofd_not_enforced = 14,        // they are accepted and exclude nobody (seen by a probe)
  descriptors_closed = 15,      // somebody closed descriptors that belong to SQLite
  connection_gone = 16,         // a guarded connection was closed before its guard was released
  descriptor_limit = 17,        // RLIMIT_NOFILE or the system's file table is exhausted
  unsupported_platform = 18,    // this system has no open file description locks
  sqlite_error = 19,            // SQLite refused; Error::sqlite_code() has its extended code
  io_error = 20,                // a system call failed; Error::os_error() has its errno
  out_of_memory = 21,
  not_held = 22,         // the guard was released, or never held anything
  connection_busy = 23,  // close refused: statements or backups are still in use
  invalid_argument = 24,
};

[[nodiscard]] WALGUARD_API const std::error_category& error_category() noexcept;
[[nodiscard]] inline std::error_code make_error_code(errc code) noexcept {
  return {static_cast<int>(code), error_category()};
}

// Bytes [offset, offset + length) of a file.
struct ByteRange {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

// What is known about a failure. Empty or absent means unknown.
struct ErrorDetail {
  std::string operation;                   // "lock", "open", ...
  std::string path;                        // the file, as SQLite or the caller named it (bytes)
  std::string advice;                      // what was found and what to do about it
  std::optional<ByteRange> range;          // the bytes that were to be locked
  std::optional<std::int64_t> holder_pid;  // who holds them; absent for an OFD lock: it has no pid
  int os_error = 0;                        // errno, 0 when no system call failed
  int sqlite_code = 0;                     // SQLite's extended result code, 0 when it was not asked
};

// A failed call. code() is one of `errc`; what() is a sentence that names the operation, the file,
// the byte range, the holder where known, and what to do.
// Immutable; copies share the detail and do not throw.
class WALGUARD_API Error : public std::system_error {
 public:
  Error(errc code, ErrorDetail detail);
  Error(const Error&) noexcept;
  Error& operator=(const Error&) noexcept;
  ~Error() override;

  [[nodiscard]] const std::string& operation() const noexcept { return detail_->operation; }
  [[nodiscard]] const std::string& path() const noexcept { return detail_->path; }
  [[nodiscard]] const std::optional<ByteRange>& range() const noexcept { return detail_->range; }
  [[nodiscard]] std::optional<std::int64_t> holder_pid() const noexcept {
    return detail_->holder_pid;
  }
  [[nodiscard]] int os_error() const noexcept { return detail_->os_error; }
  [[nodiscard]] int sqlite_code() const noexcept { return detail_->sqlite_code; }
  [[nodiscard]] const ErrorDetail& detail() const noexcept { return *detail_; }

 private:
  std::shared_ptr<const ErrorDetail> detail_;
};

}  // namespace walguard

template <>
struct std::is_error_code_enum<walguard::errc> : std::true_type {};
