// SPDX-License-Identifier: MIT
// What os/ answers on systems that are neither Linux nor macOS: nothing is known and nothing is
// tried. WalGuard::supported() says no before anybody asks for more.
#include <unistd.h>

#include <cerrno>
#include <type_traits>

#include "os/mapping_query.hpp"
#include "os/mount_kind.hpp"
#include "os/ofd_commands.hpp"
#include "os/proc_files.hpp"
#include "os/proc_maps.hpp"
#include "os/syscalls.hpp"

namespace walguard::os {
namespace {

// Any member of the table: it fails in the way of the call it is named after.
template <class Result, class... Arguments>
Result refuse(Arguments...) {
  errno = ENOTSUP;
  if constexpr (std::is_pointer_v<Result>) {
    return nullptr;
  } else {
    return -1;
  }
}

// As pthread_create, which gives its errno back.
int refuse_thread(void* (*)(void*), void*) { return ENOTSUP; }
// There is a process, whatever else there is; nobody can tell its threads from it.
pid_t real_getpid() { return ::getpid(); }

constexpr Syscalls kReal{
    .open = refuse,
    .close = refuse,
    .read = refuse,
    .fstat = refuse,
    .stat = refuse,
    .fcntl_lock = refuse,
    .getdents = refuse,
    .readlink = refuse,
    .realpath = refuse,
    .ioctl = refuse,
    .unshare_descriptors = refuse,
    .wipe_on_fork_page = refuse,
    .start_thread = refuse_thread,
    .compare_files = refuse,
    .getpid = real_getpid,
    .gettid = real_getpid,
};

}  // namespace

namespace detail {
constinit const Syscalls* current = &kReal;
}

const Syscalls& real_syscalls() noexcept { return kReal; }
void replace_syscalls(const Syscalls& table) noexcept { detail::current = &table; }

const int kOfdSetLock = -1;
const int kOfdGetLock = -1;
bool ofd_locks_known() noexcept { return false; }

int mapped_inode(const void*, std::uint64_t&) noexcept { return ENOTSUP; }
int mount_of(std::string_view, Mount&) { return ENOTSUP; }
int visit_own_descriptors(const std::function<bool(int fd)>&) { return ENOTSUP; }
std::string descriptor_path(int) { return {}; }
int descriptor_locks(int, std::vector<DescriptorLock>&) { return ENOTSUP; }
int visit_own_mappings(const std::function<bool(const Mapping&)>&) { return ENOTSUP; }
bool names_file(std::string_view, std::string_view) noexcept { return false; }

}  // namespace walguard::os
