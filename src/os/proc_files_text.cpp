// SPDX-License-Identifier: MIT
#include "os/proc_files.hpp"

#include <cstdint>

#include "os/proc_text.hpp"

namespace walguard::os {
namespace {

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
  file.device = linux_device(major, minor);
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

}  // namespace walguard::os
