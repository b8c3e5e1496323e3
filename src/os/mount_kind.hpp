// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace walguard::os {

// The mount that a path lies on, from /proc/thread-self/mountinfo (statfs can lie there).
struct Mount {
  std::string type;   // "ext4", "fuse.sshfs", "nfs4", ...
  std::string point;  // the mount point, octal escapes undone
  std::string source;
  std::string options;       // mount and super options, comma-separated, escapes left in
  std::uint64_t device = 0;  // makedev(major, minor), as /proc/locks and maps print it
};

// Parses one line of mountinfo. False when it is malformed.
[[nodiscard]] bool parse_mountinfo_line(std::string_view line, Mount& out);

// The mount of `path` in the text of a mountinfo file: the longest mount point that is a prefix by
// whole components; of several on one point the last (topmost) one. False when none fits.
[[nodiscard]] bool find_mount(std::string_view mountinfo, std::string_view path, Mount& out);

// The mount of an absolute path (without links, ".." or doubled slashes) as the calling thread sees
// it. Returns 0 or an errno; ENOENT when no mount fits, as in some chroots.
[[nodiscard]] int mount_of(std::string_view path, Mount& out);

}  // namespace walguard::os
