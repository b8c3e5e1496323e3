// SPDX-License-Identifier: MIT
#include "os/ofd_commands.hpp"

#include <fcntl.h>

namespace walguard::os {

const int kOfdSetLock = F_OFD_SETLK;  // Linux 3.15
const int kOfdGetLock = F_OFD_GETLK;
bool ofd_locks_known() noexcept { return true; }

}  // namespace walguard::os
