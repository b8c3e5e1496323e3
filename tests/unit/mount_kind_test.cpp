// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE mount_kind
#ifndef BOOST_TEST_DYN_LINK
#define BOOST_TEST_DYN_LINK
#endif
#include "os/mount_kind.hpp"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <string>
#include <string_view>

#include "proc_test_support.hpp"

namespace walguard::os {
namespace {

using test::FakeProc;

constexpr std::string_view kDataLine =
    "36 35 259:74565 /root /data rw,noatime master:1 shared:7 - ext4 /dev/root rw,errors=continue";

constexpr std::string_view kTable =
    "21 1 254:0 / / rw,relatime shared:1 - ext4 /dev/root rw\n"
    "36 21 8:1 / /data rw,noatime - xfs /dev/sda1 rw,attr2\n"
    "a line that is none\n"
    "37 36 0:50 / /data/net rw - nfs4 host:/x rw,vers=4.2\n"
    "38 21 0:51 / /data\\040base rw - fuse.sshfs user@host:/a\\040b rw,user_id=0\n"
    "39 36 0:52 / /data/twice rw - tmpfs tmpfs rw\n"
    "40 39 0:53 / /data/twice ro - 9p share rw,trans=virtio\n"
    "41 21 0:54 / /back\\134slash rw - virtiofs tag rw\n";

std::string type_for(std::string_view path, std::string_view table = kTable) {
  Mount mount;
  return find_mount(table, path, mount) ? mount.type : "(none)";
}

BOOST_AUTO_TEST_CASE(line_gives_every_field) {
  Mount mount;
  BOOST_TEST(parse_mountinfo_line(kDataLine, mount));
  BOOST_TEST(mount.type == "ext4");
  BOOST_TEST(mount.point == "/data");
  BOOST_TEST(mount.source == "/dev/root");
  BOOST_TEST(mount.options == "rw,noatime,rw,errors=continue");
  BOOST_TEST(mount.device == ::makedev(259, 74565));
}

BOOST_AUTO_TEST_CASE(optional_fields_may_be_none_or_many) {
  for (const std::string_view optional :
       {"", "shared:1 ", "shared:1 master:2 propagate_from:3 unbindable ", "future "}) {
    Mount mount;
    const std::string line = "36 35 0:50 / /data rw " + std::string(optional) + "- tmpfs none rw";
    BOOST_TEST(parse_mountinfo_line(line, mount), line);
    BOOST_TEST((mount.type == "tmpfs" && mount.source == "none"), line);
  }
}

BOOST_AUTO_TEST_CASE(source_may_be_the_empty_string) {
  Mount mount;
  BOOST_TEST(parse_mountinfo_line("36 35 0:50 / /data rw - tmpfs  rw,size=1k", mount));
  BOOST_TEST(mount.type == "tmpfs");
  BOOST_TEST(mount.source.empty());
  BOOST_TEST(mount.options == "rw,rw,size=1k");
}

BOOST_AUTO_TEST_CASE(escapes_are_undone_in_names_and_kept_in_options) {
  Mount mount;
  BOOST_TEST(parse_mountinfo_line(
      "36 35 0:50 / /a\\040b\\011c\\012d\\134040\\043 rw - fuse.x\\040y s\\040t rw,dir=/a\\054b",
      mount));
  BOOST_TEST(mount.point == "/a b\tc\nd\\040#");
  BOOST_TEST(mount.type == "fuse.x y");
  BOOST_TEST(mount.source == "s t");
  BOOST_TEST(mount.options == "rw,rw,dir=/a\\054b");
  // What is no escape stays.
  BOOST_TEST(parse_mountinfo_line("36 35 0:50 / /\\04\\8\\400\\0 rw - tmpfs \\ rw", mount));
  BOOST_TEST(mount.point == "/\\04\\8\\400\\0");
  BOOST_TEST(mount.source == "\\");
}

BOOST_AUTO_TEST_CASE(malformed_lines_are_refused_and_leave_the_output_alone) {
  const std::string_view lines[] = {
      "",
      " ",
      "36",
      "36 35",
      "x 35 0:50 / /data rw - tmpfs none rw",
      "36 x 0:50 / /data rw - tmpfs none rw",
      "36 35 0.50 / /data rw - tmpfs none rw",
      "36 35 0:50: / /data rw - tmpfs none rw",
      "36 35 0:4294967296 / /data rw - tmpfs none rw",
      "36 35 -1:50 / /data rw - tmpfs none rw",
      "36 35 0:50 /  rw - tmpfs none rw",
      "36 35 0:50 / data rw - tmpfs none rw",
      "36 35 0:50 / /data  - tmpfs none rw",
      "36 35 0:50 / /data rw tmpfs none rw",
      "36 35 0:50 / /data rw -",
      "36 35 0:50 / /data rw - ",
      "36 35 0:50 / /data rw - tmpfs",
      "36 35 0:50 / /data rw - tmpfs none",
      "36 35 0:50 / /data rw - tmpfs none ",
      "36 35 0:50 / /data rw -  none rw",
  };
  for (const std::string_view line : lines) {
    Mount mount;
    mount.type = "before";
    BOOST_TEST(!parse_mountinfo_line(line, mount), line);
    BOOST_TEST(!find_mount(line, "/data/x", mount), line);
    BOOST_TEST((mount.type == "before" && mount.device == 0), line);
  }
}

BOOST_AUTO_TEST_CASE(longest_prefix_by_whole_components_wins) {
  BOOST_TEST(type_for("/") == "ext4");
  BOOST_TEST(type_for("/home/a.db") == "ext4");
  BOOST_TEST(type_for("/data") == "xfs");
  BOOST_TEST(type_for("/data/") == "xfs");
  BOOST_TEST(type_for("/data/a.db") == "xfs");
  BOOST_TEST(type_for("/database/a.db") == "ext4");
  BOOST_TEST(type_for("/dat") == "ext4");
  BOOST_TEST(type_for("/data/net/a.db") == "nfs4");
  BOOST_TEST(type_for("/data/network/a.db") == "xfs");
  BOOST_TEST(type_for("/data base/a.db") == "fuse.sshfs");
  BOOST_TEST(type_for("/data\\040base/a.db") == "ext4");
  BOOST_TEST(type_for("/back\\slash/a.db") == "virtiofs");
}

BOOST_AUTO_TEST_CASE(last_of_several_on_one_point_wins) {
  BOOST_TEST(type_for("/data/twice/a.db") == "9p");
  BOOST_TEST(type_for("/x", "1 1 0:1 / / rw - rootfs rootfs rw\n2 1 0:2 / / rw - ext4 x rw") ==
             "ext4");
}

BOOST_AUTO_TEST_CASE(nothing_fits_a_relative_path_or_a_table_without_a_root) {
  BOOST_TEST(type_for("data/a.db") == "(none)");
  BOOST_TEST(type_for("") == "(none)");
  BOOST_TEST(type_for("/a.db", "36 35 0:50 / /data rw - tmpfs none rw\n") == "(none)");
  BOOST_TEST(type_for("/a.db", "") == "(none)");
  BOOST_TEST(type_for("/a.db", "\n\n\n") == "(none)");
}

BOOST_AUTO_TEST_CASE(mountinfo_is_read_whole_whatever_the_chunks) {
  for (const std::size_t chunk : {1, 3, 100, 4096}) {
    FakeProc proc;
    // An overlay of many layers: the line is longer than any buffer.
    proc.files["/proc/thread-self/mountinfo"] =
        std::string(kTable) +
        "50 21 0:60 / /merged rw - overlay overlay rw,lowerdir=" + std::string(200'000, 'x') + "\n";
    proc.chunk = chunk;
    proc.interrupt = true;
    Mount mount;
    BOOST_TEST(mount_of("/data/net/a.db", mount) == 0);
    BOOST_TEST(mount.type == "nfs4");
    BOOST_TEST(mount_of("/merged/a.db", mount) == 0);
    BOOST_TEST(mount.type == "overlay");
    BOOST_TEST(proc.all_closed());
    BOOST_TEST(proc.interruptions > 0);
  }
}

BOOST_AUTO_TEST_CASE(failed_calls_give_their_errno_and_leave_the_output_alone) {
  FakeProc proc;
  Mount mount;
  mount.type = "before";
  BOOST_TEST(mount_of("/data", mount) == ENOENT);
  proc.files["/proc/thread-self/mountinfo"] = kTable;
  BOOST_TEST(mount_of("data", mount) == EINVAL);
  proc.chunk = 10;
  proc.fail_read = EACCES;
  proc.reads_before_failure = 2;
  BOOST_TEST(mount_of("/data", mount) == EACCES);
  BOOST_TEST(proc.failures == 1);
  proc.fail_read = 0;
  proc.files["/proc/thread-self/mountinfo"] = "36 35 0:50 / /data rw - tmpfs none rw\n";
  BOOST_TEST(mount_of("/home", mount) == ENOENT);
  BOOST_TEST(mount.type == "before");
  BOOST_TEST(proc.opened.size() == 2U);
  BOOST_TEST(proc.all_closed());
}

BOOST_AUTO_TEST_CASE(proc_itself_lies_on_its_own_mount) {
  struct stat proc {};
  BOOST_REQUIRE(::stat("/proc/self/maps", &proc) == 0);
  Mount mount;
  BOOST_TEST(mount_of("/proc/self/maps", mount) == 0);
  BOOST_TEST(mount.type == "proc");
  BOOST_TEST(mount.point == "/proc");
  BOOST_TEST(mount.device == proc.st_dev);
}

BOOST_AUTO_TEST_CASE(mutated_tables_are_parsed_within_bounds) {
  test::LineMutator mutate;
  int accepted = 0;
  for (int i = 0; i < test::kMutatedLines; ++i) {
    const test::ExactCopy text(mutate(i % 2 == 0 ? kDataLine : kTable.substr(0, 200)));
    Mount mount;
    if (!find_mount(text.view(), "/data/a.db", mount)) continue;
    ++accepted;
    const bool sound = std::string_view("/data/a.db").starts_with(mount.point) &&
                       !mount.type.empty() && mount.options.find(',') != std::string::npos;
    if (!sound) BOOST_ERROR("unsound: " << text.view());
  }
  BOOST_TEST(accepted > 1000);
  BOOST_TEST(accepted < test::kMutatedLines);
}

}  // namespace
}  // namespace walguard::os
