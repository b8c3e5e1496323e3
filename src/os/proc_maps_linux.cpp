// SPDX-License-Identifier: MIT
#include "os/proc_maps.hpp"

#include "os/proc_reader.hpp"

namespace walguard::os {
namespace {

constexpr std::string_view kDeleted = " (deleted)";

}  // namespace

int visit_own_mappings(const std::function<bool(const Mapping&)>& visit) {
  std::string storage;
  return for_each_line("maps", [&](std::string_view line) {
    Mapping mapping;
    return !parse_maps_line(line, mapping, storage) || visit(mapping);
  });
}

bool names_file(std::string_view shown, std::string_view name) noexcept {
  if (name.empty() || !shown.starts_with(name)) return false;
  // The whole of `shown` first: "(deleted)" may be a part of the name.
  const std::string_view rest = shown.substr(name.size());
  return rest.empty() || rest == kDeleted;
}

}  // namespace walguard::os
