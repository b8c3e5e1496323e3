// SPDX-License-Identifier: MIT
// Never sees that the files at the path are others.
#include "guard/generation.hpp"

namespace walguard::guard {

PathLook look_at_paths(const Paths& paths) noexcept {
  return {look_at(paths.db.c_str()), look_at(paths.wal.c_str()), look_at(paths.shm.c_str())};
}
bool suspicious(const Generation&, const PathLook&) noexcept { return false; }
Verdict judge(const Generation&, const PathLook&, const PinnedNames&, bool) noexcept {
  return Verdict::intact;
}
bool is_loss(Verdict) noexcept { return false; }

}  // namespace walguard::guard
