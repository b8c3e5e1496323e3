// SPDX-License-Identifier: MIT
#pragma once

namespace walguard::os {

// The fcntl() commands for open file description locks, and whether this build may use them.
extern const int kOfdSetLock;
extern const int kOfdGetLock;
[[nodiscard]] bool ofd_locks_known() noexcept;

}  // namespace walguard::os
