// SPDX-License-Identifier: MIT
#pragma once

namespace walguard::test {

// Registers the VFS kScrambled over the default one: the first 16 bytes of a database are not
// "SQLite format 3" on disk but look random, as those of an encrypted database do.
inline constexpr char kScrambled[] = "scrambled";
void register_scrambled_vfs();

}  // namespace walguard::test
