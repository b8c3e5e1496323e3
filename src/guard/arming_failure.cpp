// SPDX-License-Identifier: MIT
#include "guard/arming_failure.hpp"

#include <sys/resource.h>

#include <cerrno>
#include <string>

#include "os/mount_kind.hpp"

namespace walguard::guard {
namespace {

std::string on_mount(const std::string& path) {
  os::Mount mount;
  if (os::mount_of(path, mount) != 0) return "the file system";
  return "the file system '" + mount.type + "' mounted on '" + mount.point + "'";
}

std::string descriptor_limit() {
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return "raise RLIMIT_NOFILE";
  return "raise RLIMIT_NOFILE (now " + std::to_string(limit.rlim_cur) +
         "); a guard needs three descriptors for each database";
}

bool refuses_locks(int error) noexcept {
  return error == EINVAL || error == ENOSYS || error == ENOTSUP || error == ENOLCK;
}

}  // namespace

Error failure_of(const Arming::Outcome& outcome, const char* operation) {
  ErrorDetail detail;
  detail.operation = operation;
  if (outcome.path != nullptr) detail.path = *outcome.path;
  detail.os_error = outcome.error;
  if (outcome.wrong_file) {
    detail.os_error = 0;
    detail.advice = "the file at the path is not the one that SQLite has open";
    return {errc::generation_lost, std::move(detail)};
  }
  if (outcome.error == EMFILE || outcome.error == ENFILE) {
    detail.advice = descriptor_limit();
    return {errc::descriptor_limit, std::move(detail)};
  }
  if (outcome.step == Arming::Step::open) return {errc::io_error, std::move(detail)};

  detail.range = outcome.range;
  if (outcome.holder_pid > 0) detail.holder_pid = outcome.holder_pid;
  if (outcome.not_enforced) {
    detail.os_error = 0;
    detail.advice = on_mount(detail.path) + " accepts OFD locks but excludes nobody by them";
    return {errc::ofd_not_enforced, std::move(detail)};
  }
  if (outcome.error == EAGAIN) {
    detail.os_error = 0;
    detail.advice = outcome.holder_pid > 0
                        ? "it closes the database or changes its journal mode: try again"
                        : "whoever holds it closes the database or changes its journal mode";
    return {errc::lock_busy, std::move(detail)};
  }
  if (refuses_locks(outcome.error)) {
    detail.advice = on_mount(detail.path) + " refuses OFD locks";
    return {errc::ofd_unsupported, std::move(detail)};
  }
  return {errc::io_error, std::move(detail)};
}

}  // namespace walguard::guard
