// SPDX-License-Identifier: MIT
#include "guard/generation.hpp"

namespace walguard::guard {
namespace {

// A -wal that was not there when the guard was taken has nothing to be compared with.
bool differs(FileIdentity held, const FileLook& now) noexcept {
  return held.known() && (now.error != 0 || now.identity != held);
}

Verdict judge_file(FileIdentity held, const FileLook& now, std::uint64_t names, Verdict unlinked,
                   Verdict replaced) noexcept {
  if (!differs(held, now)) return Verdict::intact;
  if (now.error == 0) return replaced;
  return names == 0 ? unlinked : Verdict::moved_or_unreachable;
}

}  // namespace

PathLook look_at_paths(const Paths& paths) noexcept {
  return {look_at(paths.db.c_str()), look_at(paths.wal.c_str()), look_at(paths.shm.c_str())};
}

bool suspicious(const Generation& held, const PathLook& now) noexcept {
  return differs(held.db, now.db) || differs(held.wal, now.wal) || differs(held.shm, now.shm);
}

Verdict judge(const Generation& held, const PathLook& now, const PinnedNames& names,
              bool same_root) noexcept {
  if (!suspicious(held, now)) return Verdict::intact;
  if (!same_root) return Verdict::moved_or_unreachable;
  const Verdict verdicts[] = {
      judge_file(held.db, now.db, names.db, Verdict::db_unlinked, Verdict::db_replaced),
      judge_file(held.wal, now.wal, names.wal, Verdict::wal_unlinked, Verdict::wal_replaced),
      judge_file(held.shm, now.shm, names.shm, Verdict::shm_unlinked, Verdict::shm_replaced),
  };
  for (const Verdict verdict : verdicts) {
    if (is_loss(verdict)) return verdict;
  }
  return Verdict::moved_or_unreachable;
}

bool is_loss(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::db_unlinked:
    case Verdict::db_replaced:
    case Verdict::wal_unlinked:
    case Verdict::wal_replaced:
    case Verdict::shm_unlinked:
    case Verdict::shm_replaced: return true;
    case Verdict::intact:
    case Verdict::not_held:
    case Verdict::moved_or_unreachable:
    case Verdict::descriptors_closed:
    case Verdict::connection_gone: return false;
  }
  return false;
}

}  // namespace walguard::guard
