// SPDX-License-Identifier: MIT
#include "os/descriptor_table.hpp"

#include "os/syscalls.hpp"

namespace walguard::os {

bool shares_process_table() noexcept {
  const pid_t process = sys().getpid();
  const pid_t thread = sys().gettid();
  return process == thread || sys().compare_files(process, thread) <= 0;
}

}  // namespace walguard::os
