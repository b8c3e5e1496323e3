// SPDX-License-Identifier: MIT
#include "os/proc_maps.hpp"

#include <cstddef>

#include "os/proc_text.hpp"

namespace walguard::os {
namespace {

// The only escape in maps: show_map_vma() gives seq_path() "\n" to escape, and not the backslash.
// So \040 in a name is four bytes of the name, and a name with the four bytes \012 cannot be told
// from one with a newline.
constexpr std::string_view kEscapedNewline = "\\012";

void unescape_newlines(std::string_view text, std::string& out) {
  out.clear();
  for (;;) {
    const std::size_t at = text.find(kEscapedNewline);
    out.append(text.substr(0, at));
    if (at == std::string_view::npos) return;
    out.push_back('\n');
    text.remove_prefix(at + kEscapedNewline.size());
  }
}

}  // namespace

// "7f12e0000000-7f12e0008000 rw-s 00000000 fe:00 1234        /path"
bool parse_maps_line(std::string_view line, Mapping& out, std::string& storage) {
  Mapping found;
  std::uint64_t offset = 0;
  unsigned major = 0;
  unsigned minor = 0;
  if (!take_number(line, found.start, 16) || !take_char(line, '-') ||
      !take_number(line, found.end, 16) || found.start >= found.end) {
    return false;
  }
  if (!take_char(line, ' ') || take_word(line).size() != 4 || !take_char(line, ' ')) return false;
  if (!take_number(line, offset, 16) || !take_char(line, ' ')) return false;
  if (!take_number(line, major, 16) || !take_char(line, ':') || !take_number(line, minor, 16)) {
    return false;
  }
  if (!take_char(line, ' ') || !take_number(line, found.file.inode, 10)) return false;
  if (!found.file.known()) return false;  // anonymous memory, [heap], [vdso]
  if (!take_char(line, ' ')) return false;
  skip_blanks(line);  // padding up to the column of the paths; no path begins with a blank
  if (line.empty()) return false;
  found.file.device = linux_device(major, minor);
  if (line.find(kEscapedNewline) == std::string_view::npos) {
    found.path = line;
  } else {
    unescape_newlines(line, storage);
    found.path = storage;
  }
  out = found;
  return true;
}

}  // namespace walguard::os
