// SPDX-License-Identifier: MIT
#include "os/ofd_commands.hpp"

#include <fcntl.h>

namespace walguard::os {
namespace {

// <fcntl.h> has them among the private names in some SDKs: the numbers stand here, and are compared
// with the header's where it has them.
constexpr int kSetLock = 90;
constexpr int kGetLock = 92;
#ifdef F_OFD_SETLK
static_assert(F_OFD_SETLK == kSetLock && F_OFD_GETLK == kGetLock);
#endif

}  // namespace

const int kOfdSetLock = kSetLock;
const int kOfdGetLock = kGetLock;
bool ofd_locks_known() noexcept { return true; }

}  // namespace walguard::os
