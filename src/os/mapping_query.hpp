// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace walguard::os {

// The inode that is mapped at `address` in this process, without reading the whole list of
// mappings (Linux 6.11 and later). Returns 0, or an errno: ENOTTY where the kernel cannot tell,
// ENOENT where no file is mapped there.
[[nodiscard]] int mapped_inode(const void* address, std::uint64_t& inode) noexcept;

}  // namespace walguard::os
