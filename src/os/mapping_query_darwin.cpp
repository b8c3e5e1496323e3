// SPDX-License-Identifier: MIT
#include "os/mapping_query.hpp"

#include "os/region_darwin.hpp"

namespace walguard::os {

int mapped_inode(const void* address, std::uint64_t& inode) noexcept {
  const auto wanted = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(address));
  proc_regionwithpathinfo region{};
  const int error = region_at(wanted, region);
  if (error == EINVAL) return ENOENT;
  if (error != 0) return error;
  // The next region above is no answer.
  if (region.prp_prinfo.pri_address > wanted || !file_of(region).known()) return ENOENT;
  inode = file_of(region).inode;
  return 0;
}

}  // namespace walguard::os
