// SPDX-License-Identifier: MIT
// Takes a path that cannot be resolved for a loss.
#include "guard/generation.hpp"

namespace walguard::guard {

PathLook look_at_paths(const Paths& paths) noexcept {
  return {look_at(paths.db.c_str()), look_at(paths.wal.c_str()), look_at(paths.shm.c_str())};
}
bool suspicious(const Generation& held, const PathLook& now) noexcept {
  return now.db.identity != held.db;
}
Verdict judge(const Generation& held, const PathLook& now, const PinnedNames&, bool) noexcept {
  return suspicious(held, now) ? Verdict::db_unlinked : Verdict::intact;
}
bool is_loss(Verdict verdict) noexcept { return verdict == Verdict::db_unlinked; }

}  // namespace walguard::guard
