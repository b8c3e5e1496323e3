// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "walguard/error.hpp"

// Where SQLite's unix VFS puts its locks (os.h, os_unix.c, walformat.html). Pure numbers.
namespace walguard::sqlite_format {

// On the database file.
inline constexpr std::uint64_t kPendingByte = 0x40000000;
inline constexpr ByteRange kPending{kPendingByte, 1};
inline constexpr ByteRange kReserved{kPendingByte + 1, 1};
// Read-locked by every WAL connection for its whole life; a write lock on all of it is EXCLUSIVE.
inline constexpr ByteRange kShared{kPendingByte + 2, 510};

// On the -shm file.
inline constexpr ByteRange kWalWrite{120, 1};
inline constexpr ByteRange kWalCheckpoint{121, 1};
inline constexpr ByteRange kWalRecover{122, 1};
inline constexpr ByteRange kWalRead0{123, 1};  // READ0 .. READ4 are 123 .. 127
// The deadman switch: read-locked by every process that maps -shm; nobody on it = a stale index.
inline constexpr ByteRange kDeadmanSwitch{128, 1};

}  // namespace walguard::sqlite_format
