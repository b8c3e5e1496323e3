// SPDX-License-Identifier: MIT
// Visitors that open and close otherwise than a read-write connection of the same SQLite does.
#define BOOST_TEST_MODULE visitors
#define BOOST_TEST_NO_MAIN
#include <sqlite3.h>
#include <unistd.h>

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "processes.hpp"
#include "walguard/host_sqlite.hpp"

namespace {

using namespace walguard;
using namespace walguard::test;

const std::vector<std::string> kStrayed{"", "db", "shm", "db and shm"};

struct Program {
  Scratch scratch;
  std::string path = scratch / "app.db";
  sqlite3* db = open_wal(path);
  WalGuard guard = hold(db);
  Pin wal{path + "-wal"};
  Pin shm{path + "-shm"};
  int rows = 1;

  void strays(const std::string& files) const {
    if (files.find("db") != std::string::npos) stray(path);
    if (files.find("shm") != std::string::npos) stray(path + "-shm");
  }
  void insert() {
    BOOST_TEST(exec(db, "INSERT INTO t VALUES(1)") == SQLITE_OK);
    ++rows;
  }
  // Before the look from a fresh process, which is a visitor itself.
  void expect_whole() const {
    BOOST_TEST(wal.still_at_path());
    BOOST_TEST(shm.still_at_path());
    BOOST_TEST(std::filesystem::file_size(path + "-shm") >= 32768U);
    BOOST_TEST(foreign(path, {"SELECT count(*) FROM t"}) == std::to_string(rows));
    BOOST_TEST(foreign(path, {"PRAGMA integrity_check"}) == "ok");
  }
  void close() {
    guard.release();
    BOOST_TEST(sqlite3_close(db) == SQLITE_OK);
    BOOST_TEST(!exists(path + "-wal"));
    BOOST_TEST(foreign(path, {"SELECT count(*) FROM t"}) == std::to_string(rows));
  }
};

const RegisterRole looker("looker", [](const std::vector<std::string>& arguments) {
  sqlite3* db = nullptr;
  const int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
  const std::string name = "file:" + arguments.at(0) + arguments.at(1);
  if (sqlite3_open_v2(name.c_str(), &db, flags, nullptr) != SQLITE_OK) return 2;
  sqlite3_busy_timeout(db, 60000);
  answer(value(db, "SELECT count(*) FROM t"));
  return sqlite3_close(db);
});

BOOST_DATA_TEST_CASE(a_read_only_visitor_leaves_the_generation,
                     boost::unit_test::data::make(kStrayed)) {
  for (const char* query : {"", "?mode=ro"}) {
    Program program;
    for (int round = 0; round < 2; ++round) {
      program.strays(sample);
      Process visitor("looker", {program.path, query});
      BOOST_TEST(visitor.line() == std::to_string(program.rows));
      BOOST_TEST(visitor.wait() == 0);
      program.insert();
      program.expect_whole();
    }
    program.close();
  }
}

const char* next_visitor() { return std::getenv("NEXT_VISITOR"); }  // set by the build

std::string foreign_next(const std::string& path, const std::string& sql) {
  const std::string command = std::string(next_visitor()) + " '" + path + "' '" + sql + "'";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(::popen(command.c_str(), "re"), ::pclose);
  char text[256] = {};
  if (pipe == nullptr || std::fgets(text, sizeof(text), pipe.get()) == nullptr) return "nothing";
  const std::string line(text);
  const auto space = line.find(' ');
  BOOST_TEST(line.substr(0, space) != sqlite3_libversion());
  return line.substr(space + 1, line.size() - space - 2);
}

BOOST_AUTO_TEST_CASE(a_newer_sqlite_as_visitor_leaves_the_generation,
                     *boost::unit_test::precondition([](boost::unit_test::test_unit_id) {
                       boost::test_tools::assertion_result there(next_visitor() != nullptr);
                       there.message() << "built without sqlite_next";
                       return there;
                     })) {
  for (const std::string& strayed : kStrayed) {
    Program program;
    for (int round = 0; round < 2; ++round) {
      program.strays(strayed);
      BOOST_TEST(foreign_next(program.path, "SELECT count(*) FROM t") ==
                 std::to_string(program.rows));
      program.insert();
      BOOST_TEST(foreign_next(program.path, "INSERT INTO t VALUES(2) RETURNING x") == "2");
      ++program.rows;
      program.insert();
      program.expect_whole();
    }
    program.close();
  }
}

// Each of these closes a descriptor of the file, none of them calls open() and close() itself.
BOOST_AUTO_TEST_CASE(strays_of_the_standard_library_harm_nothing) {
  Program program;
  for (const std::string& suffix : {std::string(), std::string("-shm")}) {
    const std::string file = program.path + suffix;
    const std::string copy = program.scratch / ("copy" + suffix);
    std::filesystem::copy_file(file, copy, std::filesystem::copy_options::overwrite_existing);
    BOOST_TEST(posix_locks(identity_of(file), ::getpid()) == 0);  // it was a stray
    BOOST_TEST(foreign(program.path, {"SELECT count(*) FROM t"}) == std::to_string(program.rows));
    program.insert();
    program.expect_whole();
    BOOST_TEST(program.guard.refresh());
    std::FILE* stream = std::fopen(file.c_str(), "re");
    BOOST_REQUIRE(stream != nullptr);
    std::fclose(stream);
    BOOST_TEST(posix_locks(identity_of(file), ::getpid()) == 0);
    program.insert();
    program.expect_whole();
  }
  program.close();
}

}  // namespace
