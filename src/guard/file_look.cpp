// SPDX-License-Identifier: MIT
#include "guard/file_look.hpp"

#include <cerrno>

#include "os/file_identity.hpp"
#include "os/syscalls.hpp"

namespace walguard::guard {
namespace {

FileLook from(int result, const struct stat& info) noexcept {
  if (result != 0) return {.error = errno, .identity = {}, .names = 0, .regular = false};
  return {.error = 0,
          .identity = os::identity_of(info),
          .names = info.st_nlink,
          .regular = S_ISREG(info.st_mode)};
}

}  // namespace

FileLook look_at(const char* path) noexcept {
  struct stat info {};
  const int result = os::sys().stat(path, &info);
  return from(result, info);
}

FileLook look_at(int fd) noexcept {
  struct stat info {};
  const int result = os::sys().fstat(fd, &info);
  return from(result, info);
}

bool is_file(int fd, FileIdentity identity) noexcept {
  if (fd < 0) return false;
  const FileLook look = look_at(fd);
  return look.error == 0 && look.identity == identity;
}

bool could_not_look(const FileLook& look) noexcept {
  return look.error != 0 && look.error != ENOENT && look.error != ENOTDIR;
}

bool is_another(int fd, FileIdentity identity) noexcept {
  const FileLook look = look_at(fd);
  return look.error == 0 ? look.identity != identity : look.error == EBADF;
}

}  // namespace walguard::guard
