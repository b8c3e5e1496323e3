// SPDX-License-Identifier: MIT
#include "strays.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <stdexcept>

namespace walguard::repro {

namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error(what + ": " + std::strerror(errno));
}

int checked(int fd, const std::string& what) {
  if (fd < 0) fail(what);
  return fd;
}

void read_bytes(int fd, bool all) {
  std::array<char, 65536> buffer{};
  const std::size_t wanted = all ? buffer.size() : 16;
  while (::read(fd, buffer.data(), wanted) > 0 && all) {
  }
}

// A descriptor of this process on the inode at `path`: SQLite's own, when nothing else has it open.
int find_descriptor(const std::string& path) {
  struct stat wanted {};
  if (::stat(path.c_str(), &wanted) != 0) fail("stat " + path);
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int fd = std::stoi(entry.path().filename().string());
    struct stat found {};
    if (::fstat(fd, &found) == 0 && found.st_dev == wanted.st_dev &&
        found.st_ino == wanted.st_ino && (::fcntl(fd, F_GETFL) & O_PATH) == 0) {
      return fd;
    }
  }
  throw std::runtime_error("no descriptor of " + path + " in this process");
}

int open_by_directory(const std::string& path) {
  const std::filesystem::path file(path);
  const auto folder = file.has_parent_path() ? file.parent_path().string() : std::string(".");
  const int directory = checked(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC), folder);
  const int fd = ::openat(directory, file.filename().c_str(), O_RDONLY | O_CLOEXEC);
  ::close(directory);
  return checked(fd, "openat " + path);
}

int open_plain(const std::string& path, int flags = O_RDONLY) {
  return checked(::open(path.c_str(), flags | O_CLOEXEC), "open " + path);
}

}  // namespace

std::vector<std::string> files_of_target(const std::string& target, const std::string& file) {
  static const std::map<std::string, std::vector<std::string>> kSuffixes = {
      {"none", {}},      {"db", {""}},           {"wal", {"-wal"}},
      {"shm", {"-shm"}}, {"both", {"", "-shm"}}, {"all", {"", "-wal", "-shm"}},
  };
  const auto suffixes = kSuffixes.find(target);
  if (suffixes == kSuffixes.end()) {
    throw std::runtime_error("'" + target + "' is none of none, db, wal, shm, both, all");
  }
  std::vector<std::string> files;
  for (const auto& suffix : suffixes->second) files.push_back(file + suffix);
  return files;
}

void stray(const std::string& path, const std::string& by) {
  int fd = -1;
  if (by == "open" || by == "header" || by == "copy" || by == "fchmod") {
    fd = open_plain(path);
    if (by == "header" || by == "copy") read_bytes(fd, by == "copy");
    if (by == "fchmod" && ::fchmod(fd, 0600) != 0) fail("fchmod " + path);
  } else if (by == "rw") {
    fd = open_plain(path, O_RDWR);
  } else if (by == "fd") {
    fd = open_by_directory(path);
  } else if (by == "dup") {
    fd = checked(::fcntl(find_descriptor(path), F_DUPFD_CLOEXEC, 0), "dup");
  } else if (by == "procfd") {
    fd = open_plain("/proc/self/fd/" + std::to_string(find_descriptor(path)));
  } else {
    throw std::runtime_error("by=" + by + " is no way to stray");
  }
  ::close(fd);
}

int keep_descriptor(const std::string& path) { return open_plain(path); }

void sweep_descriptors(int spared) {
  ::close_range(3, static_cast<unsigned>(spared) - 1, 0);
  ::close_range(static_cast<unsigned>(spared) + 1, ~0U, 0);
}

int count_descriptors(const std::string& path) {
  const auto absolute = std::filesystem::absolute(path).lexically_normal().string();
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    auto target = std::filesystem::read_symlink(entry.path(), gone).string();
    static constexpr std::string_view kDeleted = " (deleted)";
    if (target.ends_with(kDeleted)) target.resize(target.size() - kDeleted.size());
    const int flags = ::fcntl(std::stoi(entry.path().filename().string()), F_GETFL);
    if (target == absolute && flags >= 0 && (flags & O_PATH) == 0) ++count;
  }
  return count;
}

}  // namespace walguard::repro
