// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "walguard/generation.hpp"

namespace walguard::os {

// One file mapping of a process, a line of /proc/PID/maps.
struct Mapping {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  FileIdentity file;      // the kernel's s_dev here, which is not st_dev on btrfs and overlayfs
  std::string_view path;  // with the kernel's escapes (\012 only) undone; may end in " (deleted)"
};

// Parses one line without its newline. False for a line that is malformed or maps no file.
// `storage` holds the path where escapes had to be undone.
[[nodiscard]] bool parse_maps_line(std::string_view line, Mapping& out, std::string& storage);

// Calls `visit` for each file mapping of this process until it returns false. Reads
// /proc/thread-self/maps (falls back to /proc/self/maps) through the syscall table, line by line,
// in bounded memory; EINTR is retried. A mapping is valid during its visit only.
// Returns 0, or the errno of the call that failed.
[[nodiscard]] int visit_own_mappings(const std::function<bool(const Mapping&)>& visit);

// True when `path`, as the kernel shows it in maps or /proc/self/fd, names `name`, with or without
// the " (deleted)" suffix. A hint only: never evidence of a deletion.
[[nodiscard]] bool names_file(std::string_view shown, std::string_view name) noexcept;

}  // namespace walguard::os
