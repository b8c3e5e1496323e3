// SPDX-License-Identifier: MIT
#include "os/mount_kind.hpp"

#include <cstddef>
#include <utility>

#include "os/proc_text.hpp"

namespace walguard::os {
namespace {

// A line as it stands, escapes and all. Fields are parted by exactly one space; the source of a
// mount may be the empty string, which gives two spaces in a row.
struct MountLine {
  std::string_view point;
  std::string_view mount_options;
  std::string_view type;
  std::string_view source;
  std::string_view super_options;
  std::uint64_t device = 0;
};

bool take_whole_number(std::string_view& line) {
  std::uint64_t number = 0;
  return take_number(line, number, 10) && take_char(line, ' ');
}

// "36 35 98:0 /root /point rw,noatime shared:7 master:1 - ext3 /dev/source rw,errors=continue"
bool split_line(std::string_view line, MountLine& out) {
  unsigned major = 0;
  unsigned minor = 0;
  std::string_view field;  // the root of the mount, then the optional fields
  if (!take_whole_number(line) || !take_whole_number(line)) return false;  // the mount, its parent
  if (!take_number(line, major, 10) || !take_char(line, ':') || !take_number(line, minor, 10) ||
      !take_char(line, ' ')) {
    return false;
  }
  out.device = linux_device(major, minor);
  if (!take_field(line, field) || !take_field(line, out.point) || !out.point.starts_with('/') ||
      !take_field(line, out.mount_options)) {
    return false;
  }
  do {
    if (!take_field(line, field)) return false;
  } while (field != "-");
  if (!take_field(line, out.type) || !take_field(line, out.source)) return false;
  out.super_options = line;
  return !out.type.empty() && !out.mount_options.empty() && !out.super_options.empty();
}

bool is_prefix_by_components(std::string_view point, std::string_view path) {
  if (point == "/") return true;
  if (!path.starts_with(point)) return false;
  return path.size() == point.size() || path[point.size()] == '/';
}

}  // namespace

bool parse_mountinfo_line(std::string_view line, Mount& out) {
  MountLine raw;
  if (!split_line(line, raw)) return false;
  Mount mount;
  mount.type = unescape_octal(raw.type);
  mount.point = unescape_octal(raw.point);
  mount.source = unescape_octal(raw.source);
  // Escapes stay in the options: one of them may be for a comma.
  mount.options.append(raw.mount_options).append(",").append(raw.super_options);
  mount.device = raw.device;
  out = std::move(mount);
  return true;
}

bool find_mount(std::string_view mountinfo, std::string_view path, Mount& out) {
  if (!path.starts_with('/')) return false;
  std::string_view best;
  std::size_t longest = 0;
  while (!mountinfo.empty()) {
    const std::string_view line = mountinfo.substr(0, mountinfo.find('\n'));
    mountinfo.remove_prefix(line.size() == mountinfo.size() ? line.size() : line.size() + 1);
    MountLine raw;
    if (!split_line(line, raw)) continue;
    const std::string point = unescape_octal(raw.point);
    if (!is_prefix_by_components(point, path) || point.size() < longest) continue;
    best = line;
    longest = point.size();
  }
  return !best.empty() && parse_mountinfo_line(best, out);
}

}  // namespace walguard::os
