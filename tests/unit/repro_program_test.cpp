// SPDX-License-Identifier: MIT
// The harness itself: runs that must fail. WALGUARD_REPRO names the program.
#define BOOST_TEST_MODULE repro_program
#ifndef BOOST_TEST_DYN_LINK
#define BOOST_TEST_DYN_LINK
#endif
#include <sys/wait.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "process.hpp"

namespace walguard::repro {
namespace {

const std::string kSteps =
    "app      open wal\n"
    "app      exec CREATE TABLE t(x)\n"
    "app      insert 1\n"
    "app      stray $stray\n"
    "visitor  visits 1 SELECT count(*) FROM t\n"
    "app      insert 1\n";

const std::string kHead =
    "title    A stray close and a foreign last close\n"
    "actor    app\n"
    "actor    visitor\n"
    "vary     stray  none,both\n";

const std::string kRight =
    "expect   bare   held  when stray == none\n"
    "expect   bare   wal-deleted, rows-lost\n"
    "expect   guard  held\n";

class Folder {
 public:
  Folder() {
    auto pattern = (std::filesystem::temp_directory_path() / "repro-test-XXXXXX").string();
    BOOST_TEST_REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
    return path_ / name;
  }
  // The exit status; what it printed is in `output`.
  int repro(const std::vector<std::string>& arguments) {
    const char* program = std::getenv("WALGUARD_REPRO");
    BOOST_TEST_REQUIRE(program != nullptr, "WALGUARD_REPRO must name the program");
    const auto result = run_program(program, arguments, path_);
    output = result.output;
    // A run that must fail keeps its files; they are of no use here.
    for (auto at = output.find("its files: "); at != std::string::npos;
         at = output.find("its files: ", at + 1)) {
      const auto start = at + std::string("its files: ").size();
      const std::filesystem::path kept(output.substr(start, output.find('\n', start) - start));
      std::filesystem::remove_all(kept.parent_path());
    }
    return WIFEXITED(result.ending.status) ? WEXITSTATUS(result.ending.status) : -1;
  }
  bool says(const std::string& text) const { return output.find(text) != std::string::npos; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  std::string output;

 private:
  std::filesystem::path path_;
};

BOOST_FIXTURE_TEST_CASE(what_is_as_expected_passes, Folder) {
  const auto file = write("right.scenario", kHead + kSteps + kRight);
  BOOST_TEST(repro({"run", file}) == 0, output);
  BOOST_TEST(repro({"run", file, "--runs", "3", "--json", "out.json"}) == 0, output);
  std::ifstream stream(path() / "out.json");
  const auto json = nlohmann::json::parse(stream);
  BOOST_TEST(json["schema"] == "walguard.repro/1");
  BOOST_TEST(json["cases"].size() == 12U);
  for (const auto& entry : json["cases"]) {
    const bool bare_and_strayed = entry["arm"] == "bare" && entry["cell"]["stray"] == "both";
    BOOST_TEST(entry["outcome"] == (bare_and_strayed ? "harmed" : "held"));
    BOOST_TEST(entry["outcome"] == entry["expected"]);
    BOOST_TEST(entry["evidence"].empty() != bare_and_strayed);
  }
}

BOOST_FIXTURE_TEST_CASE(harm_that_is_not_expected_fails, Folder) {
  const auto file = write("wrong.scenario", kHead + kSteps +
                                                "expect bare held when stray == both\n"
                                                "expect bare harmed\n");
  BOOST_TEST(repro({"run", file}) == 1, output);
  BOOST_TEST(says("wal-deleted: test.db-wal lost its name"), output);
}

BOOST_FIXTURE_TEST_CASE(harm_that_does_not_come_fails, Folder) {
  const auto file = write("wrong.scenario", kHead + kSteps + "expect bare rows-lost\n");
  BOOST_TEST(repro({"run", file}) == 1, output);
}

BOOST_FIXTURE_TEST_CASE(evidence_that_is_not_seen_fails, Folder) {
  const auto file = write("wrong.scenario", kHead + kSteps +
                                                "expect bare held when stray == none\n"
                                                "expect bare rows-lost, sigbus\n");
  BOOST_TEST(repro({"run", file}) == 1, output);
}

BOOST_FIXTURE_TEST_CASE(a_protection_that_is_not_there_is_found_out, Folder) {
  const auto file = write("right.scenario", kHead + kSteps + kRight);
  BOOST_TEST(repro({"run", file, "--arm", "guard"}) == 0, output);
  BOOST_TEST(repro({"run", file, "--arm", "guard-sabotaged"}) == 1, output);
  BOOST_TEST(says("rows-lost: 1 of 2"), output);
}

BOOST_FIXTURE_TEST_CASE(a_hole_that_has_closed_is_told, Folder) {
  const auto file = write("wrong.scenario", kHead + kSteps +
                                                "expect bare held when stray == none\n"
                                                "expect bare harmed\n"
                                                "expect guard not_covered\n");
  BOOST_TEST(repro({"run", file, "--arm", "guard"}) == 1, output);
}

BOOST_FIXTURE_TEST_CASE(a_case_that_shows_nothing_fails, Folder) {
  const auto steps = kHead + "app open wal\nexpect bare held\nexpect guard held\n";
  BOOST_TEST(repro({"run", write("idle.scenario", steps)}) == 1, output);
  BOOST_TEST(says("shows no harm"), output);
  BOOST_TEST(repro({"run", write("control.scenario", "control nothing\n" + steps)}) == 0, output);
}

BOOST_FIXTURE_TEST_CASE(a_case_of_which_nothing_can_be_run_fails, Folder) {
  const auto file =
      write("never.scenario",
            "title A\nactor app\nactor visitor sqlite=99.1\nvary stray both\n" + kSteps + kRight);
  BOOST_TEST(repro({"run", file}) == 1, output);
  BOOST_TEST(says("every cell is skipped"), output);
}

BOOST_FIXTURE_TEST_CASE(cells_of_a_version_that_was_not_built_are_skipped_and_counted, Folder) {
  const auto file = write(
      "some.scenario",
      "title A\nactor app\nactor visitor sqlite=system,99.1\nvary stray both\n" + kSteps + kRight);
  BOOST_TEST(repro({"run", file}) == 0, output);
  BOOST_TEST(says("1 skipped"), output);
  BOOST_TEST(says("skipped cells need SQLite 99.1"), output);
}

BOOST_FIXTURE_TEST_CASE(usage_errors_exit_2, Folder) {
  BOOST_TEST(repro({}) == 2, output);
  BOOST_TEST(repro({"run", "no-such.scenario"}) == 2, output);
  BOOST_TEST(repro({"run", "--arm", "armour"}) == 2, output);
  BOOST_TEST(repro({"run", "--runs", "0"}) == 2, output);
  BOOST_TEST(repro({"run", write("bad.scenario", kHead + "app opne\n")}) == 2, output);
  BOOST_TEST(says("bad.scenario:5: no step is called 'opne'"), output);
}

BOOST_FIXTURE_TEST_CASE(a_step_that_makes_no_sense_is_no_result, Folder) {
  const auto file = write("odd.scenario", kHead + "app insert 1\nexpect bare harmed\n");
  BOOST_TEST(repro({"run", file}) == 1, output);
  BOOST_TEST(says("odd.scenario:5: app insert: this actor has no open connection"), output);
}

BOOST_FIXTURE_TEST_CASE(nothing_is_left_behind, Folder) {
  // The test's own directory serves as the place for temporary files.
  ::setenv("TMPDIR", path().c_str(), 1);
  const auto file = write("right.scenario", kHead + kSteps + kRight);
  BOOST_TEST(repro({"run", file}) == 0, output);
  int left = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path())) {
    left += entry.is_directory() ? 1 : 0;
  }
  BOOST_TEST(left == 0);
  ::unsetenv("TMPDIR");
}

}  // namespace
}  // namespace walguard::repro
