// SPDX-License-Identifier: MIT
#include "oracles.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "process.hpp"
#include "text.hpp"

namespace walguard::repro {

namespace {

constexpr std::size_t kMostRowsNamed = 3;

struct LockedRange {
  std::string_view target;
  std::string_view suffix;
  std::string_view name;
  off_t start;
  off_t length;
};

// Offsets of SQLite's locks; see its os_unix.c and wal.c.
constexpr std::array<LockedRange, 2> kRanges = {{
    {"db", "", "SHARED range of the database", 0x40000002, 510},
    {"shm", "-shm", "deadman switch of the -shm", 128, 1},
}};

bool is_locked(const std::filesystem::path& path, off_t start, off_t length) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return false;
  // Asking for a write lock names every holder, readers too; a descriptor for reading may ask.
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = start;
  lock.l_len = length;
  if (::fcntl(fd.get(), F_OFD_GETLK, &lock) != 0) {
    throw HarnessError("F_OFD_GETLK on " + path.string() + ": " + std::strerror(errno));
  }
  return lock.l_type != F_UNLCK;
}

}  // namespace

void FreshProcessOracle::look_at_copy(const Ledger& ledger, Evidence& evidence) const {
  const auto copies = directory_ / "seen";
  std::filesystem::create_directory(copies);
  for (const auto& file : ledger.files()) {
    // Not the -shm: a process that opens the copy rebuilds it, as after a crash.
    for (const auto* suffix : {"", "-wal", "-journal"}) {
      const auto from = directory_ / (file + suffix);
      const auto to = copies / (file + suffix);
      std::filesystem::create_directories(to.parent_path());
      if (std::filesystem::exists(from)) std::filesystem::copy_file(from, to);
    }
    verify(copies, file, "while the actors live", ledger, evidence);
  }
}

void FreshProcessOracle::look_at_files(const Ledger& ledger, Evidence& evidence) const {
  for (const auto& file : ledger.files()) {
    verify(directory_, file, "after all have ended", ledger, evidence);
  }
}

void FreshProcessOracle::verify(const std::filesystem::path& directory, const std::string& file,
                                const std::string& when, const Ledger& ledger,
                                Evidence& evidence) const {
  Launch launch;
  launch.program = actor_program_;
  launch.arguments = {"none"};
  const auto process = ActorProcess::start(launch, directory);
  const auto answer = process->request("verify " + file);
  if (!answer) {
    evidence.add("crashed", "the oracle " + when + ": " + process->wait().text());
    return;
  }
  if (const auto& fault = (*answer)["fault"].get_ref<const std::string&>(); !fault.empty()) {
    throw HarnessError("the oracle " + when + ": " + fault);
  }
  auto rows = nlohmann::json::object();
  if (const int rc = (*answer)["rc"].get<int>(); rc != 0) {
    evidence.add("corrupt", "a fresh process cannot open it " + when + ": " +
                                (*answer)["text"].get<std::string>());
  } else {
    const auto& extra = (*answer)["extra"];
    rows = extra["rows"];
    const auto integrity = extra["integrity"].get<std::string>();
    if (integrity != "ok") {
      evidence.add("corrupt",
                   "integrity_check " + when + ": " + integrity.substr(0, integrity.find('\n')));
    }
  }
  auto lost = ledger.missing(file, rows);
  if (!lost.empty()) {
    const auto count = lost.size();
    lost.resize(std::min(lost.size(), kMostRowsNamed));
    evidence.add("rows-lost", std::to_string(count) + " of " +
                                  std::to_string(ledger.acknowledged(file)) + " in " + file + " " +
                                  when + ": " + join(lost, ", ") +
                                  (count > lost.size() ? ", ..." : ""));
  }
  process->request("quit");
  process->wait();
}

void probe_locks(const std::filesystem::path& directory, const std::string& file,
                 const std::string& target, bool held, Evidence& evidence) {
  for (const auto& range : kRanges) {
    if (target != "both" && target != range.target) continue;
    const auto path = directory / (file + std::string(range.suffix));
    if (is_locked(path, range.start, range.length) == held) continue;
    evidence.add(
        held ? "locks-lost" : "lock-left",
        (held ? "nobody holds the " : "somebody still holds the ") + std::string(range.name));
  }
}

void probe_no_sidecars(const std::filesystem::path& directory, const std::string& file,
                       Evidence& evidence) {
  for (const auto* suffix : {"-wal", "-shm"}) {
    if (std::filesystem::exists(directory / (file + suffix))) {
      evidence.add("sidecars-left", file + suffix + " is still there");
    }
  }
}

std::vector<std::string> lock_lines(const std::filesystem::path& directory,
                                    const std::string& file) {
  std::vector<std::string> found;
  for (const auto* suffix : {"", "-shm"}) {
    struct stat info {};
    if (::stat((directory / (file + suffix)).c_str(), &info) != 0) continue;
    const auto inode = ":" + std::to_string(info.st_ino) + " ";
    std::ifstream locks("/proc/locks");
    for (std::string line; std::getline(locks, line);) {
      if (line.find(inode) != std::string::npos) found.push_back(file + suffix + " " + line);
    }
  }
  return found;
}

}  // namespace walguard::repro
