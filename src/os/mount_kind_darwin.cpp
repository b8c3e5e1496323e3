// SPDX-License-Identifier: MIT
#include "os/mount_kind.hpp"

#include <sys/mount.h>
#include <sys/param.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace walguard::os {
namespace {

struct Flag {
  std::uint32_t bit;
  const char* name;  // as mount(8) prints it
};
constexpr Flag kFlags[] = {
    {MNT_LOCAL, ",local"},   {MNT_SYNCHRONOUS, ",synchronous"}, {MNT_ASYNC, ",asynchronous"},
    {MNT_NOEXEC, ",noexec"}, {MNT_NOSUID, ",nosuid"},           {MNT_NODEV, ",nodev"},
    {MNT_UNION, ",union"},
};

template <std::size_t size>
std::string text_of(const char (&field)[size]) {
  return {field, ::strnlen(field, size)};
}

}  // namespace

// The mount point need not be a prefix of the path: firmlinks lead from the system's volume to
// /System/Volumes/Data.
int mount_of(std::string_view path, Mount& out) {
  if (!path.starts_with('/')) return EINVAL;
  std::string asked(path);
  struct statfs info {};
  while (::statfs(asked.c_str(), &info) != 0) {
    if (errno == EINTR) continue;
    if (errno != ENOENT || asked == "/") return errno;
    // A file that is yet to be made lies where its directory does.
    const std::size_t slash = asked.rfind('/');
    asked.resize(slash == 0 ? 1 : slash);
  }
  Mount mount;
  mount.type = text_of(info.f_fstypename);
  mount.point = text_of(info.f_mntonname);
  mount.source = text_of(info.f_mntfromname);
  mount.options = (info.f_flags & MNT_RDONLY) != 0 ? "ro" : "rw";
  for (const Flag& flag : kFlags) {
    if ((info.f_flags & flag.bit) != 0) mount.options += flag.name;
  }
  // By way of dev_t, as st_dev comes to its 64 bits.
  mount.device = static_cast<std::uint64_t>(static_cast<dev_t>(info.f_fsid.val[0]));
  out = std::move(mount);
  return 0;
}

}  // namespace walguard::os
