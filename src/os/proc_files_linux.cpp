// SPDX-License-Identifier: MIT
#include "os/proc_files.hpp"

#include <limits.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <utility>

#include "os/proc_reader.hpp"
#include "os/proc_text.hpp"

namespace walguard::os {
namespace {

// The kernel's struct linux_dirent64, which no header of libc has: u64 d_ino, s64 d_off,
// u16 d_reclen, u8 d_type, d_name[].
constexpr std::size_t kRecordLengthAt = 16;
constexpr std::size_t kNameAt = 19;

// Takes one record off the front of what getdents gave. False when it does not fit in there.
bool take_record(std::string_view& records, std::string_view& name) {
  if (records.size() <= kNameAt) return false;
  std::uint16_t length = 0;
  std::memcpy(&length, records.data() + kRecordLengthAt, sizeof length);
  if (length <= kNameAt || length > records.size()) return false;
  name = records.substr(kNameAt, length - kNameAt);
  name = name.substr(0, name.find('\0'));
  records.remove_prefix(length);
  return true;
}

// True for a whole decimal number; "." and ".." are none.
bool parse_descriptor(std::string_view name, int& fd) {
  return take_number(name, fd, 10) && name.empty() && fd >= 0;
}

bool parse_kind(std::string_view word, LockKind& kind) {
  if (word == "POSIX") {
    kind = LockKind::posix;
  } else if (word == "OFDLCK") {
    kind = LockKind::ofd;
  } else if (word == "FLOCK") {
    kind = LockKind::flock;
  } else if (word == "LEASE" || word == "DELEG") {
    kind = LockKind::lease;
  } else {
    return false;
  }
  return true;
}

// "fe:00:1234"
bool parse_identity(std::string_view word, FileIdentity& file) {
  unsigned major = 0;
  unsigned minor = 0;
  if (!take_number(word, major, 16) || !take_char(word, ':') || !take_number(word, minor, 16) ||
      !take_char(word, ':') || !take_number(word, file.inode, 10) || !word.empty()) {
    return false;
  }
  file.device = ::makedev(major, minor);
  return true;
}

// First and last byte, the last one included; "EOF" where there is no last one.
bool parse_range(std::string_view first, std::string_view last, ByteRange& range) {
  std::int64_t start = 0;  // the kernel's loff_t: unsigned, the largest length would be 0
  std::int64_t end = 0;
  if (!take_number(first, start, 10) || !first.empty() || start < 0) return false;
  range.offset = static_cast<std::uint64_t>(start);
  range.length = 0;
  if (last == "EOF") return true;
  if (!take_number(last, end, 10) || !last.empty() || end < start) return false;
  range.length = static_cast<std::uint64_t>(end - start) + 1;
  return true;
}

}  // namespace

int visit_own_descriptors(const std::function<bool(int fd)>& visit) {
  const OwnProcFile listing("fd", O_DIRECTORY);
  if (listing.error() != 0) return listing.error();
  // The kernel's position in this directory is a descriptor number, so whatever is opened or closed
  // between two calls, a descriptor that stays open is seen exactly once.
  char buffer[4096];
  for (;;) {
    const long size =
        result_or_errno([&] { return sys().getdents(listing.fd(), buffer, sizeof buffer); });
    if (size <= 0) return static_cast<int>(-size);
    std::string_view records(buffer, static_cast<std::size_t>(size));
    while (!records.empty()) {
      std::string_view name;
      if (!take_record(records, name)) return EIO;
      int fd = -1;
      if (!parse_descriptor(name, fd) || fd == listing.fd()) continue;
      if (!visit(fd)) return 0;
    }
  }
}

std::string descriptor_path(int fd) {
  char name[32];
  std::snprintf(name, sizeof name, "fd/%d", fd);
  char target[PATH_MAX];
  const auto read_link = [&target](const char* path) {
    return sys().readlink(path, target, sizeof target);
  };
  const long size = on_own_proc(name, read_link);
  // A full buffer may be a truncated path. The kernel gives no longer ones (ENAMETOOLONG).
  if (size <= 0 || static_cast<std::size_t>(size) >= sizeof target) return {};
  return {target, static_cast<std::size_t>(size)};
}

// lock_get_status() of fs/locks.c. A waiting request has "->" before its kind; a lease has
// "ACTIVE", "BREAKING" or "BREAKER" where the others have "ADVISORY".
bool parse_lock_line(std::string_view line, DescriptorLock& out) {
  constexpr std::string_view kPrefix = "lock:";
  if (!line.starts_with(kPrefix)) return false;
  line.remove_prefix(kPrefix.size());
  DescriptorLock lock;

  std::uint64_t number = 0;
  std::string_view word = take_word(line);
  if (!take_number(word, number, 10) || word != ":") return false;

  word = take_word(line);
  if (word == "->") {
    lock.waiting = true;
    word = take_word(line);
  }
  if (!parse_kind(word, lock.kind)) return false;
  if (take_word(line).empty()) return false;  // ADVISORY; MANDATORY before Linux 5.15

  word = take_word(line);
  lock.write = word == "WRITE";
  // A lease that is on its way out is UNLCK already.
  const bool going = lock.kind == LockKind::lease && word == "UNLCK";
  if (!lock.write && word != "READ" && !going) return false;

  word = take_word(line);
  if (!take_number(word, lock.pid, 10) || !word.empty()) return false;
  if (!parse_identity(take_word(line), lock.file)) return false;
  const std::string_view first = take_word(line);
  const std::string_view last = take_word(line);
  if (!parse_range(first, last, lock.range) || !take_word(line).empty()) return false;
  out = lock;
  return true;
}

int descriptor_locks(int fd, std::vector<DescriptorLock>& out) {
  char name[32];
  std::snprintf(name, sizeof name, "fdinfo/%d", fd);
  std::vector<DescriptorLock> found;
  const int error = for_each_line(name, [&found](std::string_view line) {
    DescriptorLock lock;
    if (parse_lock_line(line, lock)) found.push_back(lock);
    return true;
  });
  if (error == 0) out = std::move(found);
  return error;
}

}  // namespace walguard::os
