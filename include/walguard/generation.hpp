// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace walguard {

// Which file it is. Inode numbers are reused at once after an unlink (ext4 does so every time), so
// an identity names a file only while something keeps it alive: a descriptor or a mapping.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  [[nodiscard]] bool known() const noexcept { return inode != 0; }
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

// A WAL generation: the -wal and -shm inodes, with the database inode that they belong to, that
// live connections share from the first open to the last close. Two generations over one database
// destroy each other's commits. A file that is not there has an identity that is not known().
struct Generation {
  FileIdentity db;
  FileIdentity wal;
  FileIdentity shm;
  friend bool operator==(const Generation&, const Generation&) = default;
};

}  // namespace walguard
