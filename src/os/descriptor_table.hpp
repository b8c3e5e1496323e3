// SPDX-License-Identifier: MIT
#pragma once

namespace walguard::os {

// Whether the calling thread uses the process's descriptor table, as far as can be told: a thread
// may have one of its own (unshare), where POSIX locks and descriptor numbers are not SQLite's.
// Where the kernel does not say (a sandbox), true.
[[nodiscard]] bool shares_process_table() noexcept;

}  // namespace walguard::os
