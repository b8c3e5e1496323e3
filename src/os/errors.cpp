// SPDX-License-Identifier: MIT
#include <cstring>
#include <string>

#include "walguard/error.hpp"

namespace walguard {
namespace {

const char* text_of(errc code) noexcept {
  switch (code) {
    case errc::no_database_file: return "the database has no file";
    case errc::no_such_schema: return "no such schema on this connection";
    case errc::not_wal: return "the database is not in WAL mode";
    case errc::exclusive_locking_mode: return "the connection uses locking_mode=EXCLUSIVE";
    case errc::vfs_without_posix_locks: return "the VFS does not lock the file with fcntl()";
    case errc::immutable_database: return "the database was opened immutable, without locks";
    case errc::hard_link: return "the database file has more than one name";
    case errc::database_moved: return "the path does not lead to the open database file";
    case errc::generation_lost: return "the WAL generation is lost";
    case errc::not_open_here: return "the database is not open in this process";
    case errc::shm_not_mapped: return "the wal-index is not mapped in this process";
    case errc::lock_busy: return "another process holds an exclusive lock";
    case errc::ofd_unsupported: return "open file description locks are refused";
    case errc::ofd_not_enforced: return "open file description locks exclude nobody here";
    case errc::descriptors_closed: return "descriptors that belong to SQLite were closed";
    case errc::connection_gone: return "the connection was closed before its guard was released";
    case errc::descriptor_limit: return "no more file descriptors";
    case errc::unsupported_platform: return "not supported on this system";
    case errc::sqlite_error: return "SQLite reported an error";
    case errc::io_error: return "a system call failed";
    case errc::out_of_memory: return "out of memory";
    case errc::not_held: return "the guard holds nothing";
    case errc::connection_busy: return "the connection has statements or backups in use";
    case errc::invalid_argument: return "invalid argument";
  }
  return "unknown walguard error";
}

class Category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "walguard"; }
  std::string message(int value) const override { return text_of(static_cast<errc>(value)); }
};

// "lock '/x/app.db' bytes [1073741826, 1073742336): held by pid 42; advice (errno text)". The
// category's sentence is put behind it by std::system_error.
std::string describe(const ErrorDetail& detail) {
  std::string text = detail.operation;
  if (!detail.path.empty()) text += " '" + detail.path + "'";
  if (detail.range) {
    text += " bytes [" + std::to_string(detail.range->offset) + ", " +
            std::to_string(detail.range->offset + detail.range->length) + ")";
  }
  if (detail.holder_pid) text += ", held by process " + std::to_string(*detail.holder_pid);
  if (!detail.advice.empty()) text += ": " + detail.advice;
  if (detail.os_error != 0) {
    text += " [" + std::generic_category().message(detail.os_error) + "]";
  }
  if (detail.sqlite_code != 0) text += " [SQLite code " + std::to_string(detail.sqlite_code) + "]";
  return text;
}

}  // namespace

const std::error_category& error_category() noexcept {
  static const Category instance;
  return instance;
}

Error::Error(errc code, ErrorDetail detail)
    : std::system_error(make_error_code(code), describe(detail)),
      detail_(std::make_shared<const ErrorDetail>(std::move(detail))) {}
Error::Error(const Error&) noexcept = default;
Error& Error::operator=(const Error&) noexcept = default;
Error::~Error() = default;

}  // namespace walguard
