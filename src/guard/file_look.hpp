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

// Whether the descriptor number is open here and is that file.
[[nodiscard]] bool is_file(int fd, FileIdentity identity) noexcept;

}  // namespace walguard::guard
