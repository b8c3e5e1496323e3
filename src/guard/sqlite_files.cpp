// SPDX-License-Identifier: MIT
#include "guard/sqlite_files.hpp"

#include <atomic>
#include <string_view>

#include "guard/file_look.hpp"
#include "os/mapping_query.hpp"
#include "os/proc_files.hpp"
#include "os/proc_maps.hpp"
#include "os/tracked_descriptors.hpp"

namespace walguard::guard {
namespace {

// Numbers are given out lowest first, so files that are opened one after the other lie together.
constexpr int kBelow = 2;
constexpr int kAbove = 8;
struct Hints {
  std::atomic<int> db{4};
  std::atomic<int> wal{5};
  std::atomic<int> shm{6};
} hints;

int find_near(std::atomic<int>& hint, FileIdentity identity) noexcept {
  if (!identity.known()) return -1;
  const int last = hint.load(std::memory_order_relaxed);
  for (int fd = last > kBelow ? last - kBelow : 0; fd <= last + kAbove; ++fd) {
    if (is_file(fd, identity) && !os::is_tracked(fd)) {
      hint.store(fd, std::memory_order_relaxed);
      return fd;
    }
  }
  return -1;
}

std::string_view last_component(std::string_view path) noexcept {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

int find_descriptors(const Generation& generation, SqliteDescriptors& out) {
  out.db = find_near(hints.db, generation.db);
  out.wal = find_near(hints.wal, generation.wal);
  out.shm = find_near(hints.shm, generation.shm);
  const auto complete = [&] {
    return out.db >= 0 && out.shm >= 0 && (out.wal >= 0 || !generation.wal.known());
  };
  if (complete()) return 0;
  const auto note = [](int fd, int& number, std::atomic<int>& hint) {
    if (os::is_tracked(fd)) return;  // the guard's own, in the process's table
    number = fd;
    hint.store(fd, std::memory_order_relaxed);
  };
  return os::visit_own_descriptors([&](int fd) {
    const FileLook look = look_at(fd);
    if (look.error != 0) return true;
    if (look.identity == generation.db) note(fd, out.db, hints.db);
    if (look.identity == generation.wal) note(fd, out.wal, hints.wal);
    if (look.identity == generation.shm) note(fd, out.shm, hints.shm);
    return !complete();
  });
}

bool has_other_file_of_name(const std::string& path, FileIdentity identity) {
  bool found = false;
  // A failure to list is no evidence.
  (void)os::visit_own_descriptors([&](int fd) {
    if (os::names_file(os::descriptor_path(fd), path)) {
      const FileLook look = look_at(fd);
      found = look.error == 0 && look.identity != identity && !os::is_tracked(fd);
    }
    return !found;
  });
  return found;
}

int mapped_shm(const std::string& shm_path, FileIdentity shm, const void* address, Mapped& out) {
  if (std::uint64_t inode = 0; address != nullptr && os::mapped_inode(address, inode) == 0) {
    out = inode == shm.inode ? Mapped::this_one : Mapped::another;
    return 0;
  }
  out = Mapped::none;
  return os::visit_own_mappings([&](const os::Mapping& mapping) {
    // The device here is not st_dev on btrfs and overlayfs; there the name has to agree.
    const bool same_name = os::names_file(last_component(mapping.path), last_component(shm_path));
    if (mapping.file.inode == shm.inode && (same_name || mapping.file.device == shm.device)) {
      if (out == Mapped::none) out = Mapped::this_one;
    } else if (os::names_file(mapping.path, shm_path)) {
      out = Mapped::another;
    }
    return out != Mapped::another;
  });
}

}  // namespace walguard::guard
