// SPDX-License-Identifier: MIT
#pragma once

#include <sys/stat.h>

#include <cstdint>

#include "walguard/generation.hpp"

namespace walguard::os {

// By casts: dev_t is a signed number of 32 bits on macOS.
[[nodiscard]] inline FileIdentity identity_of(const struct stat& info) noexcept {
  return {static_cast<std::uint64_t>(info.st_dev), static_cast<std::uint64_t>(info.st_ino)};
}

}  // namespace walguard::os
