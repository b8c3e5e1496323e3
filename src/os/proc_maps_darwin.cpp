// SPDX-License-Identifier: MIT
#include "os/proc_maps.hpp"

#include <strings.h>

#include <cstring>

#include "os/region_darwin.hpp"

namespace walguard::os {

int visit_own_mappings(const std::function<bool(const Mapping&)>& visit) {
  std::uint64_t next = 0;
  for (;;) {
    proc_regionwithpathinfo region{};
    const int error = region_at(next, region);
    // Every process has a region, so at 0 the answer is a refusal, and above it the end.
    if (error == EINVAL && next != 0) return 0;
    if (error != 0) return error;
    Mapping mapping;
    mapping.start = region.prp_prinfo.pri_address;
    mapping.end = mapping.start + region.prp_prinfo.pri_size;
    mapping.file = file_of(region);
    const char* path = region.prp_vip.vip_path;
    mapping.path = {path, ::strnlen(path, sizeof region.prp_vip.vip_path)};
    if (mapping.file.known() && !visit(mapping)) return 0;
    if (mapping.end <= next) return 0;  // the top of the address space
    next = mapping.end;
  }
}

// Volumes are case-insensitive unless somebody formatted them otherwise, and the program may have
// spelled the name in another way than the directory does. Only ASCII is folded: both names come
// from the kernel, which gives the rest as the directory has it. Nothing marks a deleted file.
bool names_file(std::string_view shown, std::string_view name) noexcept {
  return !name.empty() && shown.size() == name.size() &&
         ::strncasecmp(shown.data(), name.data(), name.size()) == 0;
}

}  // namespace walguard::os
