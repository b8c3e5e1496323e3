// SPDX-License-Identifier: MIT
#include "os/environment.hpp"

#include <cstdlib>
#include <string_view>

namespace walguard::os {
namespace {

bool is(const char* name, std::string_view value) noexcept {
#if defined(__GLIBC__)
  const char* text = ::secure_getenv(name);
#else
  const char* text = std::getenv(name);
#endif
  return text != nullptr && value == text;
}

}  // namespace

const Environment& environment() noexcept {
  static const Environment instance{
      .off = is("WALGUARD", "off"),
      .process_descriptors = is("WALGUARD_DESCRIPTORS", "process"),
  };
  return instance;
}

}  // namespace walguard::os
