// SPDX-License-Identifier: MIT
#pragma once

#include "guard/arming.hpp"
#include "walguard/error.hpp"

namespace walguard::guard {

// What to tell the caller of an attempt that failed.
[[nodiscard]] Error failure_of(const Arming::Outcome& outcome, const char* operation);

}  // namespace walguard::guard
