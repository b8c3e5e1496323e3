// SPDX-License-Identifier: MIT
#include "processes.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>

namespace walguard::test {
namespace {

constexpr int kWatchdogSeconds = 60;
constexpr int kSignalled = 1000;

std::map<std::string, Role>& roles() {
  static std::map<std::string, Role> instance;
  return instance;
}

const RegisterRole visitor_role("visitor", [](const std::vector<std::string>& arguments) {
  sqlite3* db = nullptr;
  const int code = sqlite3_open_v2(arguments.at(0).c_str(), &db, SQLITE_OPEN_READWRITE, nullptr);
  std::string last = code == SQLITE_OK ? "nothing" : "error " + std::to_string(code);
  for (std::size_t i = 1; i < arguments.size() && !last.starts_with("error"); ++i) {
    last = value(db, arguments[i]);
  }
  const int closed = sqlite3_close(db);
  answer(closed == SQLITE_OK ? last : "close error " + std::to_string(closed));
  return 0;
});

void check(bool good, const char* what) {
  if (!good) throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
}

int locks_in_one_look(FileIdentity file, const std::string& kind, int pid) {
  std::ifstream locks("/proc/locks");
  int found = 0;
  for (std::string line; std::getline(locks, line);) {
    std::istringstream words(line);
    std::string number, type, advisory, access, where;
    int owner = 0;
    words >> number >> type >> advisory >> access >> owner >> where;
    const std::string inode = where.substr(where.rfind(':') + 1);
    if (type == kind && inode == std::to_string(file.inode) && (pid == 0 || pid == owner)) ++found;
  }
  return found;
}

// The kernel lists locks page by page and starts from a position each time, so that locks which
// others take and drop meanwhile make it show one twice or leave one out: three looks must agree.
int locks_of(FileIdentity file, const std::string& kind, int pid) {
  for (;;) {
    const int found = locks_in_one_look(file, kind, pid);
    if (locks_in_one_look(file, kind, pid) == found &&
        locks_in_one_look(file, kind, pid) == found) {
      return found;
    }
  }
}

}  // namespace

RegisterRole::RegisterRole(const char* name, Role role) { roles().emplace(name, std::move(role)); }

Process::Process(const std::string& role, const std::vector<std::string>& arguments) {
  int in[2];
  int out[2];
  check(::pipe2(in, O_CLOEXEC) == 0 && ::pipe2(out, O_CLOEXEC) == 0, "pipe");
  std::vector<std::string> words{"/proc/self/exe", "--role", role};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, in[0], 0);
  ::posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(in[0]);
  ::close(out[1]);
  errno = error;
  check(error == 0, "posix_spawn");
  pid_ = pid;
  to_ = in[1];
  from_ = out[0];
}

Process::~Process() {
  if (pid_ > 0) kill();
  ::close(to_);
  ::close(from_);
}

std::string Process::line() {
  for (;;) {
    if (const auto end = buffer_.find('\n'); end != std::string::npos) {
      std::string found = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return found;
    }
    struct pollfd waiting {
      from_, POLLIN, 0
    };
    if (::poll(&waiting, 1, kWatchdogSeconds * 1000) <= 0) {
      throw std::runtime_error("watchdog: no answer from a process");
    }
    char bytes[512];
    const ssize_t got = ::read(from_, bytes, sizeof(bytes));
    if (got <= 0) return {};
    buffer_.append(bytes, static_cast<std::size_t>(got));
  }
}

void Process::say(const std::string& line) {
  const std::string text = line + "\n";
  check(::write(to_, text.data(), text.size()) == static_cast<ssize_t>(text.size()), "write");
}

void Process::kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

int Process::wait() {
  int status = 0;
  check(::waitpid(pid_, &status, 0) == pid_, "waitpid");  // its alarm is the watchdog
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : kSignalled + WTERMSIG(status);
}

void answer(const std::string& line) {
  const std::string text = line + "\n";
  (void)!::write(STDOUT_FILENO, text.data(), text.size());
}

std::string next_order() {
  std::string order;
  char byte = 0;
  while (::read(STDIN_FILENO, &byte, 1) == 1 && byte != '\n') order += byte;
  return order;
}

std::string foreign(const std::string& path, const std::vector<std::string>& sql) {
  std::vector<std::string> arguments{path};
  arguments.insert(arguments.end(), sql.begin(), sql.end());
  Process visitor("visitor", arguments);
  std::string said = visitor.line();
  (void)visitor.wait();
  return said;
}

Scratch::Scratch() {
  const char* base = std::getenv("TMPDIR");
  path_ = std::string(base != nullptr ? base : "/tmp") + "/walguard-test-XXXXXX";
  check(::mkdtemp(path_.data()) != nullptr, "mkdtemp");
}
Scratch::~Scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

sqlite3* open_wal(const std::string& path) {
  sqlite3* db = nullptr;
  BOOST_REQUIRE_EQUAL(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  sqlite3_busy_timeout(db, kWatchdogSeconds * 1000);
  BOOST_REQUIRE_EQUAL(exec(db, "PRAGMA journal_mode=WAL"), SQLITE_OK);
  BOOST_REQUIRE_EQUAL(exec(db, "CREATE TABLE IF NOT EXISTS t(x)"), SQLITE_OK);
  BOOST_REQUIRE_EQUAL(exec(db, "INSERT INTO t VALUES(0)"), SQLITE_OK);
  return db;
}

int exec(sqlite3* db, const std::string& sql) {
  return sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr);
}

std::string value(sqlite3* db, const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  std::string result;
  if (sqlite3_prepare_v2(db, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) return "error";
  const int code = sqlite3_step(statement);
  const auto* text = code == SQLITE_ROW ? sqlite3_column_text(statement, 0) : nullptr;
  if (text != nullptr) result = reinterpret_cast<const char*>(text);
  if (code != SQLITE_ROW && code != SQLITE_DONE) result = "error " + std::to_string(code);
  sqlite3_finalize(statement);
  return result;
}

void stray(const std::string& path) { ::close(::open(path.c_str(), O_RDONLY | O_CLOEXEC)); }

FileIdentity identity_of(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return {};
  return {info.st_dev, info.st_ino};
}

bool exists(const std::string& path) { return identity_of(path).known(); }

Pin::Pin(const std::string& path) : path_(path), fd_(::open(path.c_str(), O_PATH | O_CLOEXEC)) {
  check(fd_ >= 0, "open");
}
Pin::~Pin() { ::close(fd_); }
bool Pin::still_at_path() const {
  struct stat info {};
  return ::fstat(fd_, &info) == 0 && identity_of(path_) == FileIdentity{info.st_dev, info.st_ino};
}

int ofd_locks(FileIdentity file) { return locks_of(file, "OFDLCK", 0); }
int posix_locks(FileIdentity file, int pid) { return locks_of(file, "POSIX", pid); }

int descriptors(FileIdentity file) {
  // Threads that share a table show the same numbers: one count a table would need kcmp, so the
  // process's own is counted once and any other table where its numbers lead to the file.
  std::set<std::string> tables{"/proc/self/fd"};
  std::error_code ignored;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", ignored)) {
    std::ifstream name(task.path() / "comm");
    std::string comm;
    if (std::getline(name, comm) && comm == "walguard") tables.insert(task.path() / "fd");
  }
  int found = 0;
  for (const std::string& table : tables) {
    std::error_code gone;
    for (const auto& entry : std::filesystem::directory_iterator(table, gone)) {
      if (file.known() && identity_of(entry.path()) == file) ++found;
    }
  }
  return found;
}

bool in_process_table() {
  const char* where = std::getenv("WALGUARD_DESCRIPTORS");
  return where != nullptr && std::strcmp(where, "process") == 0;
}

bool long_run() { return std::getenv("WALGUARD_TEST_LONG") != nullptr; }

}  // namespace walguard::test

int main(int argc, char** argv) {
  using namespace walguard::test;
  ::signal(SIGPIPE, SIG_IGN);
  if (argc > 2 && std::strcmp(argv[1], "--role") == 0) {
    ::alarm(kWatchdogSeconds);
    const auto role = roles().find(argv[2]);
    if (role == roles().end()) return 127;
    return role->second({argv + 3, argv + argc});
  }
  return boost::unit_test::unit_test_main([] { return true; }, argc, argv);
}
