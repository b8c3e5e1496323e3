// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE proc_maps
#ifndef BOOST_TEST_DYN_LINK
#define BOOST_TEST_DYN_LINK
#endif
#include "os/proc_maps.hpp"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proc_test_support.hpp"

namespace walguard::os {
namespace {

using test::FakeProc;

constexpr std::string_view kShmLine =
    "7f12e0000000-7f12e0008000 rw-s 00001000 103:12345 1234567                /data/a.db-shm";

struct Seen {
  FileIdentity file;
  std::string path;
  friend bool operator==(const Seen&, const Seen&) = default;
};

std::vector<Seen> own_mappings() {
  std::vector<Seen> seen;
  const int error = visit_own_mappings([&seen](const Mapping& mapping) {
    seen.push_back({mapping.file, std::string(mapping.path)});
    return true;
  });
  BOOST_TEST(error == 0);
  return seen;
}

std::string parsed_path(std::string_view shown) {
  const std::string line = "1000-2000 r--s 00000000 fe:00 7 " + std::string(shown);
  Mapping mapping;
  std::string storage;
  return parse_maps_line(line, mapping, storage) ? std::string(mapping.path) : "(malformed)";
}

// A file in a directory of its own, mapped shared.
class MappedFile {
 public:
  explicit MappedFile(std::string_view name) {
    char directory[] = "/tmp/walguard-maps-XXXXXX";
    BOOST_REQUIRE(::mkdtemp(directory) != nullptr);
    directory_ = directory;
    path_ = directory_ + "/" + std::string(name);
    const int fd = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    BOOST_REQUIRE(fd >= 0);
    BOOST_REQUIRE(::ftruncate(fd, 4096) == 0);
    address_ = ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0);
    BOOST_REQUIRE(address_ != MAP_FAILED);
    ::close(fd);
  }
  ~MappedFile() {
    ::munmap(address_, 4096);
    remove_name();
    ::rmdir(directory_.c_str());
  }
  void remove_name() const { ::unlink(path_.c_str()); }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const void* address() const { return address_; }

 private:
  std::string directory_;
  std::string path_;
  void* address_ = nullptr;
};

// The path that maps shows at an address; empty when there is none.
std::string path_mapped_at(const void* address) {
  std::string path;
  const int error = visit_own_mappings([&](const Mapping& mapping) {
    if (mapping.start != reinterpret_cast<std::uintptr_t>(address)) return true;
    path = mapping.path;
    return false;
  });
  return error == 0 ? path : std::string();
}

BOOST_AUTO_TEST_CASE(line_of_a_file_gives_every_field) {
  Mapping mapping;
  std::string storage;
  BOOST_TEST(parse_maps_line(kShmLine, mapping, storage));
  BOOST_TEST(mapping.start == 0x7f12e0000000U);
  BOOST_TEST(mapping.end == 0x7f12e0008000U);
  BOOST_TEST(mapping.file.device == ::makedev(0x103, 0x12345));
  BOOST_TEST(mapping.file.inode == 1234567U);
  BOOST_TEST(mapping.path == "/data/a.db-shm");
}

BOOST_AUTO_TEST_CASE(path_is_taken_whole_and_only_newlines_are_unescaped) {
  BOOST_TEST(parsed_path("/a b/c  d") == "/a b/c  d");
  BOOST_TEST(parsed_path("/a ") == "/a ");
  BOOST_TEST(parsed_path("/a (deleted)") == "/a (deleted)");
  BOOST_TEST(parsed_path("/a\\012b\\012") == "/a\nb\n");
  BOOST_TEST(parsed_path("/a\\012b (deleted)") == "/a\nb (deleted)");
  // The kernel does not escape these: they are the bytes of the name.
  BOOST_TEST(parsed_path("/a\\040b\\134\\01\\") == "/a\\040b\\134\\01\\");
  BOOST_TEST(parsed_path("/memfd:x (deleted)") == "/memfd:x (deleted)");
}

BOOST_AUTO_TEST_CASE(other_lines_are_refused_and_leave_the_output_alone) {
  const std::string_view lines[] = {
      "",
      "7f00-8000 rw-p 00000000 00:00 0 ",
      "7f00-8000 rw-p 00000000 00:00 0",
      "7f00-8000 rw-p 00000000 00:00 0                          [heap]",
      "7f00-8000 rw-p 00000000 fe:00 0                          /inode/zero",
      "7f00-8000 rw-p 00000000 fe:00 7",
      "7f00-8000 rw-p 00000000 fe:00 7      ",
      "7f00-8000 rw-p 00000000 fe:00 7/a",
      "7f00-8000 rw-p 00000000 fe:00 -7 /a",
      "7f00-8000 rw-p 00000000 fe:00 18446744073709551616 /a",
      "7f00-8000 rw-p 00000000 fe:100000000 7 /a",
      "7f00-8000 rw-p 00000000 fe 7 /a",
      "7f00-8000 rw-p 00000000 fe:00:7 /a",
      "7f00-8000 rw-p  fe:00 7 /a",
      "7f00-8000 rw- 00000000 fe:00 7 /a",
      "8000-7f00 rw-p 00000000 fe:00 7 /a",
      "7f00-7f00 rw-p 00000000 fe:00 7 /a",
      "7f00 8000 rw-p 00000000 fe:00 7 /a",
      "0x7f00-8000 rw-p 00000000 fe:00 7 /a",
      "10000000000000000-20000000000000000 rw-p 00000000 fe:00 7 /a",
      " 7f00-8000 rw-p 00000000 fe:00 7 /a",
  };
  for (const std::string_view line : lines) {
    Mapping mapping{1, 2, {3, 4}, "before"};
    std::string storage = "before";
    BOOST_TEST(!parse_maps_line(line, mapping, storage), line);
    BOOST_TEST((mapping.start == 1 && mapping.file.inode == 4 && mapping.path == "before"), line);
    BOOST_TEST(storage == "before");
  }
}

BOOST_AUTO_TEST_CASE(name_is_compared_whole_with_or_without_the_suffix) {
  BOOST_TEST(names_file("/a/x", "/a/x"));
  BOOST_TEST(names_file("/a/x (deleted)", "/a/x"));
  BOOST_TEST(names_file("/a/x (deleted)", "/a/x (deleted)"));
  BOOST_TEST(names_file("/a/x (deleted) (deleted)", "/a/x (deleted)"));
  BOOST_TEST(!names_file("/a/x (deleted) (deleted)", "/a/x"));
  BOOST_TEST(!names_file("/a/x", "/a/x (deleted)"));
  BOOST_TEST(!names_file("/a/x-shm", "/a/x"));
  BOOST_TEST(!names_file("/a/x", "/a/x-shm"));
  BOOST_TEST(!names_file("/a/x", "x"));
  BOOST_TEST(!names_file("/a/x (deleted)x", "/a/x"));
  BOOST_TEST(!names_file("/a/x(deleted)", "/a/x"));
  BOOST_TEST(!names_file("", ""));
  BOOST_TEST(!names_file(" (deleted)", ""));
}

BOOST_AUTO_TEST_CASE(lines_are_whole_whatever_the_chunks) {
  std::string escaped = "/";
  for (int i = 0; i < 4095; ++i) escaped += "\\012";
  const std::string text = std::string(kShmLine) + "\n1000-2000 rw-p 00000000 00:00 0 \n" +
                           "2000-3000 r--p 00000000 fe:00 8 " + escaped + "\n" +
                           "3000-4000 r--p 00000000 fe:00 9 /no/newline/at/the/end";
  const std::vector<Seen> expected = {{{::makedev(0x103, 0x12345), 1234567}, "/data/a.db-shm"},
                                      {{::makedev(0xfe, 0), 8}, "/" + std::string(4095, '\n')},
                                      {{::makedev(0xfe, 0), 9}, "/no/newline/at/the/end"}};
  for (const std::size_t chunk : {1, 2, 7, 88, 89, 90, 1000, 4096}) {
    FakeProc proc;
    proc.files["/proc/thread-self/maps"] = text;
    proc.chunk = chunk;
    proc.interrupt = chunk != 7;
    BOOST_TEST((own_mappings() == expected), "chunks of " << chunk);
    BOOST_TEST(proc.all_closed());
    BOOST_TEST((proc.interruptions > 0) == proc.interrupt);
  }
}

BOOST_AUTO_TEST_CASE(endless_line_is_dropped_and_the_next_one_seen) {
  FakeProc proc;
  proc.files["/proc/thread-self/maps"] = "1000-2000 r--p 00000000 fe:00 8 /" +
                                         std::string(1'000'000, 'x') + "\n" +
                                         std::string(kShmLine) + "\n";
  const std::vector<Seen> seen = own_mappings();
  BOOST_REQUIRE(seen.size() == 1U);
  BOOST_TEST(seen.front().path == "/data/a.db-shm");
}

BOOST_AUTO_TEST_CASE(failed_calls_give_their_errno_and_leave_nothing_open) {
  const auto visit = [](const Mapping&) { return true; };
  FakeProc proc;
  BOOST_TEST(visit_own_mappings(visit) == ENOENT);
  proc.files["/proc/thread-self/maps"] = std::string(kShmLine) + "\n";
  proc.chunk = 10;
  proc.fail_read = EIO;
  proc.reads_before_failure = 3;
  BOOST_TEST(visit_own_mappings(visit) == EIO);
  BOOST_TEST(proc.failures == 1);
  BOOST_TEST(proc.opened.size() == 1U);
  BOOST_TEST(proc.all_closed());
}

BOOST_AUTO_TEST_CASE(visit_ends_when_told_and_closes_also_on_an_exception) {
  FakeProc proc;
  proc.files["/proc/thread-self/maps"] = std::string(kShmLine) + "\n" + std::string(kShmLine);
  int visits = 0;
  BOOST_TEST(visit_own_mappings([&](const Mapping&) { return ++visits < 1; }) == 0);
  BOOST_TEST(visits == 1);
  BOOST_CHECK_THROW((void)visit_own_mappings([](const Mapping&) -> bool { throw 1; }), int);
  BOOST_TEST(proc.opened.size() == 2U);
  BOOST_TEST(proc.all_closed());
}

BOOST_AUTO_TEST_CASE(proc_self_is_read_only_where_thread_self_is_unknown) {
  FakeProc proc;
  proc.files["/proc/self/maps"] = std::string(kShmLine) + "\n";
  BOOST_TEST(visit_own_mappings([](const Mapping&) { return true; }) == ENOENT);
  proc.has_thread_self = false;
  BOOST_TEST(own_mappings().size() == 1U);
}

BOOST_AUTO_TEST_CASE(mapped_file_is_found_under_its_name) {
  const MappedFile file("a name\nof two lines (deleted)");
  BOOST_TEST(path_mapped_at(file.address()) == file.path());
  file.remove_name();
  const std::string shown = path_mapped_at(file.address());
  BOOST_TEST(shown == file.path() + " (deleted)");
  BOOST_TEST(names_file(shown, file.path()));
}

BOOST_AUTO_TEST_CASE(identity_is_that_of_fstat) {
  // A memfd: on a disk, st_dev and the kernel's device may differ.
  const int fd = ::memfd_create("walguard", MFD_CLOEXEC);
  BOOST_REQUIRE(fd >= 0);
  BOOST_REQUIRE(::ftruncate(fd, 4096) == 0);
  void* address = ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0);
  BOOST_REQUIRE(address != MAP_FAILED);
  struct stat expected {};
  BOOST_REQUIRE(::fstat(fd, &expected) == 0);
  FileIdentity found;
  const int error = visit_own_mappings([&](const Mapping& mapping) {
    if (mapping.start == reinterpret_cast<std::uintptr_t>(address)) found = mapping.file;
    return !found.known();
  });
  BOOST_TEST(error == 0);
  BOOST_TEST(found.device == expected.st_dev);
  BOOST_TEST(found.inode == expected.st_ino);
  ::munmap(address, 4096);
  ::close(fd);
}

// /proc/self/maps is empty from then on.
BOOST_AUTO_TEST_CASE(mappings_are_seen_after_the_main_thread_has_ended) {
  static const void* address;
  const MappedFile file("mapped");
  address = file.address();
  const pid_t child = ::fork();
  BOOST_REQUIRE(child >= 0);
  if (child == 0) {
    static pthread_t main_thread;
    main_thread = ::pthread_self();
    pthread_t thread;
    ::pthread_create(
        &thread, nullptr,
        [](void*) -> void* {
          ::pthread_join(main_thread, nullptr);
          ::_exit(path_mapped_at(address).empty() ? 1 : 42);
        },
        nullptr);
    ::syscall(SYS_exit, 0);  // pthread_exit() would unwind into Boost.Test
  }
  int status = 0;
  BOOST_TEST(::waitpid(child, &status, 0) == child);
  BOOST_TEST((WIFEXITED(status) && WEXITSTATUS(status) == 42));
}

BOOST_AUTO_TEST_CASE(mutated_lines_are_parsed_within_bounds) {
  test::LineMutator mutate;
  int accepted = 0;
  for (int i = 0; i < test::kMutatedLines; ++i) {
    const test::ExactCopy line(
        mutate(i % 2 == 0 ? std::string(kShmLine) : "1-2 r--p 0 fe:00 7 /a\\012b (deleted)"));
    Mapping mapping;
    std::string storage;
    if (!parse_maps_line(line.view(), mapping, storage)) continue;
    ++accepted;
    const bool sound = mapping.start < mapping.end && mapping.file.known() &&
                       !mapping.path.empty() && mapping.path.size() < line.view().size();
    if (!sound) BOOST_ERROR("unsound: " << line.view());
  }
  BOOST_TEST(accepted > 1000);
  BOOST_TEST(accepted < test::kMutatedLines);
}

}  // namespace
}  // namespace walguard::os
