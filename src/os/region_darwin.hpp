// SPDX-License-Identifier: MIT
#pragma once

#include <libproc.h>
#include <sys/proc_info.h>
#include <sys/types.h>

#include <cerrno>
#include <cstdint>

#include "os/syscalls.hpp"
#include "walguard/generation.hpp"

namespace walguard::os {

// The region of this process at `address`, or the next one above it. Returns 0 or an errno; EINVAL
// where there is none.
inline int region_at(std::uint64_t address, proc_regionwithpathinfo& out) noexcept {
  const int wanted = sizeof out;
  errno = 0;
  const int size = ::proc_pidinfo(sys().getpid(), PROC_PIDREGIONPATHINFO, address, &out, wanted);
  if (size == wanted) return 0;
  return size <= 0 && errno != 0 ? errno : EIO;
}

// The file of a region; not known() for one of memory. The number of the device is unsigned here
// and signed in stat: it is brought into stat's form, or the two would differ above 2^31.
inline FileIdentity file_of(const proc_regionwithpathinfo& region) noexcept {
  const vinfo_stat& info = region.prp_vip.vip_vi.vi_stat;
  const auto device = static_cast<dev_t>(info.vst_dev);
  return {static_cast<std::uint64_t>(device), info.vst_ino};
}

}  // namespace walguard::os
