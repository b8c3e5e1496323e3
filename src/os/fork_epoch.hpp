// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace walguard::os {

// A number, never 0, that is another one in every forked child, however it was forked: fork(),
// _Fork() and a raw clone() run different handlers or none, a page with MADV_WIPEONFORK is zero in
// all of them. Thread-safe, no system call. (A vfork child shares the parent's memory and sees the
// parent's number: it must not call walguard.)
[[nodiscard]] std::uint64_t fork_epoch() noexcept;

}  // namespace walguard::os
