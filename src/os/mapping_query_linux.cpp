// SPDX-License-Identifier: MIT
#include "os/mapping_query.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>

#include <atomic>
#include <cerrno>

#include "os/syscalls.hpp"

namespace walguard::os {
namespace {

// struct procmap_query of <linux/fs.h>, which older headers lack.
struct ProcmapQuery {
  std::uint64_t size;
  std::uint64_t query_flags;
  std::uint64_t query_addr;
  std::uint64_t vma_start;
  std::uint64_t vma_end;
  std::uint64_t vma_flags;
  std::uint64_t vma_page_size;
  std::uint64_t vma_offset;
  std::uint64_t inode;
  std::uint32_t dev_major;
  std::uint32_t dev_minor;
  std::uint32_t vma_name_size;
  std::uint32_t build_id_size;
  std::uint64_t vma_name_addr;
  std::uint64_t build_id_addr;
};
static_assert(sizeof(ProcmapQuery) == 104);
constexpr unsigned long kProcmapQuery = _IOWR('f', 17, ProcmapQuery);

std::atomic<bool> refused{false};  // an old kernel stays one

}  // namespace

int mapped_inode(const void* address, std::uint64_t& inode) noexcept {
  if (refused.load(std::memory_order_relaxed)) return ENOTTY;
  const int maps = sys().open("/proc/thread-self/maps", O_RDONLY | O_CLOEXEC, 0);
  if (maps < 0) return errno;
  ProcmapQuery query{};
  query.size = sizeof(query);
  query.query_addr = reinterpret_cast<std::uintptr_t>(address);
  const int error = sys().ioctl(maps, kProcmapQuery, &query) == 0 ? 0 : errno;
  sys().close(maps);
  if (error == ENOTTY) refused.store(true, std::memory_order_relaxed);
  if (error != 0) return error;
  inode = query.inode;
  return inode == 0 ? ENOENT : 0;
}

}  // namespace walguard::os
