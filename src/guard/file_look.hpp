// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "walguard/generation.hpp"

namespace walguard::guard {

// What stat or fstat said of a file.
struct FileLook {
  int error = 0;  // errno; the rest is unknown then
  FileIdentity identity;
  std::uint64_t names = 0;  // st_nlink
  bool regular = false;
};

[[nodiscard]] FileLook look_at(const char* path) noexcept;
[[nodiscard]] FileLook look_at(int fd) noexcept;

// A failure that is no answer: not there (ENOENT, ENOTDIR) is one.
[[nodiscard]] bool could_not_look(const FileLook& look) noexcept;

// Whether the descriptor number is open here and is that file.
[[nodiscard]] bool is_file(int fd, FileIdentity identity) noexcept;

// Whether the number is certainly not that file any more: closed, or another file. Not the same as
// !is_file(): a failure to look proves nothing, and a descriptor of a database that is given up for
// lost by mistake would be closed, or opened a second time.
[[nodiscard]] bool is_another(int fd, FileIdentity identity) noexcept;

}  // namespace walguard::guard
