// SPDX-License-Identifier: MIT
#pragma once

namespace walguard::os {

// The environment that walguard reads, once, and never in a program that runs with more rights than
// its caller (secure_getenv).
//   WALGUARD=off                  kill switch: hold() returns guards in state `off`
//   WALGUARD_DESCRIPTORS=process  no keeper: private descriptors live in the process's table
struct Environment {
  bool off = false;
  bool process_descriptors = false;
};

[[nodiscard]] const Environment& environment() noexcept;

}  // namespace walguard::os
