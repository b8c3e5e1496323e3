// SPDX-License-Identifier: MIT
#include "sidecars.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "process.hpp"

namespace walguard::repro {

namespace {

// SQLite creates a -shm of at least one such piece and never makes it smaller while it is in use.
constexpr off_t kIndexPiece = 32768;

bool is_path_descriptor(pid_t pid, const std::string& number) {
  std::ifstream info("/proc/" + std::to_string(pid) + "/fdinfo/" + number);
  std::string key;
  unsigned flags = 0;
  while (info >> key) {
    if (key == "flags:") {
      info >> std::oct >> flags;
      break;
    }
  }
  return (flags & O_PATH) != 0;
}

// Whether the process has the inode open. stat on /proc/PID/fd/N follows the link to the inode,
// deleted or not, and opens nothing.
bool has_open(pid_t pid, dev_t device, ino_t inode) {
  std::error_code gone;
  const auto folder = "/proc/" + std::to_string(pid) + "/fd";
  for (const auto& entry : std::filesystem::directory_iterator(folder, gone)) {
    struct stat found {};
    if (::stat(entry.path().c_str(), &found) == 0 && found.st_dev == device &&
        found.st_ino == inode && !is_path_descriptor(pid, entry.path().filename())) {
      return true;
    }
  }
  return false;
}

// Whether the process has the -shm mapped. That is what using it means: a descriptor of it may be
// anybody's. By inode and name, since maps shows other device numbers than stat on some file
// systems.
bool has_mapped(pid_t pid, ino_t inode) {
  std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
  const auto wanted = " " + std::to_string(inode) + " ";
  for (std::string line; std::getline(maps, line);) {
    if (line.find(wanted) != std::string::npos && line.find("-shm") != std::string::npos) {
      return true;
    }
  }
  return false;
}

}  // namespace

SidecarWatch::SidecarWatch(std::filesystem::path directory)
    : directory_(std::move(directory)), inotify_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
  if (!inotify_) throw HarnessError(std::string("inotify_init1: ") + std::strerror(errno));
}

void SidecarWatch::add(const std::string& file) {
  if (databases_.contains(file)) return;
  auto& [wal, shm] = databases_[file];
  wal.path = directory_ / (file + "-wal");
  wal.deleted_word = "wal-deleted";
  shm.path = directory_ / (file + "-shm");
  shm.deleted_word = "shm-deleted";
  shm.is_shm = true;
}

void SidecarWatch::pin(Sidecar& sidecar) {
  UniqueFd fd(::open(sidecar.path.c_str(), O_PATH | O_CLOEXEC));
  struct stat found {};
  if (!fd || ::fstat(fd.get(), &found) != 0) return;
  sidecar.device = found.st_dev;
  sidecar.inode = found.st_ino;
  sidecar.size = found.st_size;
  sidecar.modified = false;
  if (sidecar.is_shm) {
    // By the pinned descriptor: the path may lead elsewhere by now.
    const auto pinned = "/proc/self/fd/" + std::to_string(fd.get());
    sidecar.watch = ::inotify_add_watch(inotify_.get(), pinned.c_str(), IN_MODIFY);
    if (sidecar.watch < 0) throw HarnessError(std::string("inotify: ") + std::strerror(errno));
  }
  sidecar.pin = std::move(fd);
}

void SidecarWatch::unpin(Sidecar& sidecar) {
  if (sidecar.watch >= 0) ::inotify_rm_watch(inotify_.get(), sidecar.watch);
  sidecar.watch = -1;
  sidecar.pin = UniqueFd();
}

void SidecarWatch::read_events() {
  alignas(inotify_event) std::array<char, 4096> buffer{};
  while (true) {
    const auto count = ::read(inotify_.get(), buffer.data(), buffer.size());
    if (count <= 0) return;
    for (ssize_t at = 0; at < count;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
      if ((event->mask & IN_MODIFY) == 0) continue;
      for (auto& [file, sidecars] : databases_) {
        for (auto& sidecar : sidecars) sidecar.modified |= sidecar.watch == event->wd;
      }
    }
  }
}

void SidecarWatch::wait_for_cut(int other) {
  const auto is_modified = [](const auto& database) { return database.second[1].modified; };
  while (true) {
    read_events();
    if (std::ranges::any_of(databases_, is_modified)) return;
    std::array<pollfd, 2> entries = {{{inotify_.get(), POLLIN, 0}, {other, POLLIN, 0}}};
    const int count = ::poll(entries.data(), entries.size(),
                             static_cast<int>(std::chrono::milliseconds(kWatchdog).count()));
    if (count == 0) throw HarnessError("neither a cut nor an answer comes (watchdog)");
    if (entries[1].revents != 0) return;
  }
}

void SidecarWatch::observe(const HoldersOf& holders_of, Evidence& evidence) {
  read_events();
  for (auto& [file, sidecars] : databases_) {
    const auto holders = holders_of(file);
    for (auto& sidecar : sidecars) observe_one(sidecar, holders, evidence);
  }
}

bool SidecarWatch::is_used(const Sidecar& sidecar, pid_t pid) {
  return sidecar.is_shm ? has_mapped(pid, sidecar.inode)
                        : has_open(pid, sidecar.device, sidecar.inode);
}

void SidecarWatch::look_for_users(Sidecar& sidecar, const std::vector<Holder>& holders) {
  sidecar.users.clear();
  for (const auto& holder : holders) {
    if (!holder.died && is_used(sidecar, holder.pid)) {
      sidecar.users.insert(holder.pid);
    }
  }
}

void SidecarWatch::observe_one(Sidecar& sidecar, const std::vector<Holder>& holders,
                               Evidence& evidence) {
  const auto name = std::filesystem::path(sidecar.path).filename().string();
  struct stat pinned {};
  if (sidecar.pin) {
    ::fstat(sidecar.pin.get(), &pinned);
    // Nothing but a cut and the growth after it writes a -shm by anything but its mapping, and only
    // the first opener cuts.
    const bool grew = pinned.st_size > sidecar.size;
    const bool written = sidecar.modified || pinned.st_size < sidecar.size;
    const bool cut =
        sidecar.is_shm && written && !grew && sidecar.size >= kIndexPiece && pinned.st_nlink > 0;
    for (const auto& holder : holders) {
      if (!holder.kept_connection || !sidecar.users.contains(holder.pid)) continue;
      if (cut) evidence.add("shm-truncated", name + " was cut while " + holder.name + " uses it");
      // What a dead process had open is not known any more; that it died says the rest.
      if (pinned.st_nlink == 0 && !holder.died && is_used(sidecar, holder.pid)) {
        evidence.add(sidecar.deleted_word,
                     name + " lost its name while " + holder.name + " uses it");
      }
    }
    sidecar.modified = false;
    sidecar.size = pinned.st_size;
    struct stat at_path {};
    const bool same = ::stat(sidecar.path.c_str(), &at_path) == 0 &&
                      at_path.st_dev == sidecar.device && at_path.st_ino == sidecar.inode;
    if (!same) unpin(sidecar);
  }
  if (!sidecar.pin) pin(sidecar);
  look_for_users(sidecar, holders);
}

}  // namespace walguard::repro
