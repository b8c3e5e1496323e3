// SPDX-License-Identifier: MIT
#pragma once

namespace walguard::os {

// Whether somebody has run this on the system that it is built for. Elsewhere the library builds
// and says no, until it is configured with -Ddarwin_untested=true.
[[nodiscard]] constexpr bool platform_tested() noexcept {
#if defined(__linux__) || defined(WALGUARD_DARWIN_UNTESTED)
  return true;
#else
  return false;
#endif
}

}  // namespace walguard::os
