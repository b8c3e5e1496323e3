// SPDX-License-Identifier: MIT
// The judge as it is, but for one thing: it never notices that "/" is another directory now, and
// takes the files of a chroot for replacements of the guarded ones.
#include "guard/generation.hpp"

#define judge judge_by_root
#include "guard/generation.cpp"
#undef judge

namespace walguard::guard {

Verdict judge(const Generation& held, const PathLook& now, const PinnedNames& names,
              bool) noexcept {
  return judge_by_root(held, now, names, true);
}

}  // namespace walguard::guard
