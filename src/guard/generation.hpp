// SPDX-License-Identifier: MIT
#pragma once

#include "guard/file_look.hpp"
#include "guard/record.hpp"
#include "walguard/wal_guard.hpp"

namespace walguard::guard {

// What the three paths lead to now. Three stat calls.
struct PathLook {
  FileLook db;
  FileLook wal;
  FileLook shm;
};
[[nodiscard]] PathLook look_at_paths(const Paths& paths) noexcept;

// How many names the guarded files still have; asked only when a path leads nowhere.
struct PinnedNames {
  std::uint64_t db = 1;
  std::uint64_t wal = 1;
  std::uint64_t shm = 1;
};

// Whether a path leads somewhere else than to the guarded file, so that judge() needs more.
[[nodiscard]] bool suspicious(const Generation& held, const PathLook& now) noexcept;

// Lost needs positive evidence: another inode at the path, or a pinned inode without a name. A path
// that cannot be resolved (a renamed parent directory, a chroot) is moved_or_unreachable.
// `same_root`: whether "/" is still the directory that it was when the guard was taken.
[[nodiscard]] Verdict judge(const Generation& held, const PathLook& now, const PinnedNames& names,
                            bool same_root) noexcept;

[[nodiscard]] bool is_loss(Verdict verdict) noexcept;

}  // namespace walguard::guard
