// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE repro_matrix
#ifndef BOOST_TEST_DYN_LINK
#define BOOST_TEST_DYN_LINK
#endif
#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "evidence.hpp"
#include "ledger.hpp"
#include "matrix.hpp"

namespace walguard::repro {
namespace {

const Versions kBoth{"3.40.1", "3.53.2"};
const Versions kSystemOnly{"3.40.1", std::nullopt};

bool holds(const std::string& condition) {
  const Lookup lookup = [](std::string_view name) -> std::optional<Operand> {
    if (name == "new") return Operand{"3.53", "3.53.2"};
    if (name == "old") return Operand{"system", "3.40.1"};
    if (name == "stray") return Operand{"db", ""};
    return std::nullopt;
  };
  return Expression::parse(condition).holds(lookup);
}

BOOST_AUTO_TEST_CASE(versions_compare_by_number) {
  BOOST_TEST(compare_versions("3.5", "3.40") < 0);
  BOOST_TEST(compare_versions("3.53", "3.53.0") == 0);
  BOOST_TEST(compare_versions("3.53.2", "3.53") > 0);
  BOOST_TEST(holds("old < 3.51"));
  BOOST_TEST(holds("new >= 3.51"));
  BOOST_TEST(holds("new > 3.53"));
  BOOST_TEST(holds("new <= 3.53.2"));
  BOOST_TEST(!holds("old > 3.9.1 and old > 3.40.1"));
}

BOOST_AUTO_TEST_CASE(equality_is_of_words_or_of_version_prefixes) {
  BOOST_TEST(holds("old == system"));
  BOOST_TEST(holds("old == 3.40"));
  BOOST_TEST(holds("new != system"));
  BOOST_TEST(holds("new == 3.53"));
  BOOST_TEST(!holds("new == 3.5"));
  BOOST_TEST(holds("stray in none, wal, db"));
  BOOST_TEST(!holds("stray in none,wal"));
  BOOST_TEST(holds("stray != none"));
}

BOOST_AUTO_TEST_CASE(and_binds_closer_than_or) {
  BOOST_TEST(holds("stray == db or stray == shm and old == 3.53"));
  BOOST_TEST(!holds("(stray == db or stray == shm) and old == 3.53"));
  BOOST_TEST(holds("not stray == shm and not (new < 3 or old > 4)"));
}

BOOST_AUTO_TEST_CASE(words_have_no_order) {
  BOOST_CHECK_THROW(holds("stray < 3"), std::invalid_argument);
  BOOST_CHECK_THROW(holds("old < newer"), std::invalid_argument);
  BOOST_CHECK_THROW(holds("other == 3"), std::invalid_argument);
}

const std::string kText =
    "title A claim\n"
    "actor app\n"
    "actor visitor sqlite=system,3.53\n"
    "vary stray none,db\n"
    "vary strays 1,2\n"
    "omit when stray == none and strays == 2\n"
    "app open wal\n"
    "if stray != none: app stray $stray by=$strays\n"
    "expect bare held when stray == none\n"
    "expect bare rows-lost, wal-deleted when visitor.sqlite < 3.51\n"
    "expect bare held\n"
    "expect guard held when stray == db\n";

BOOST_AUTO_TEST_CASE(a_cell_for_each_combination) {
  const auto cells = expand(parse_scenario("a.scenario", kText), kBoth);
  BOOST_TEST_REQUIRE(cells.size() == 6U);
  BOOST_TEST(cells[0].id == "visitor.sqlite=system stray=none strays=1");
  BOOST_TEST(cells[5].id == "visitor.sqlite=3.53 stray=db strays=2");
  BOOST_TEST(cells[5].find("visitor.sqlite")->version == "3.53.2");
  BOOST_TEST(cells[5].missing.empty());
}

BOOST_AUTO_TEST_CASE(a_cell_of_a_version_that_was_not_built_says_so) {
  const auto cells = expand(parse_scenario("a.scenario", kText), kSystemOnly);
  BOOST_TEST_REQUIRE(cells.size() == 6U);
  BOOST_TEST(cells[0].missing.empty());
  BOOST_TEST(cells[3].missing == "3.53");
}

BOOST_AUTO_TEST_CASE(steps_follow_the_cell) {
  const auto scenario = parse_scenario("a.scenario", kText);
  const auto cells = expand(scenario, kBoth);
  BOOST_TEST(steps_of(scenario, cells[0]).size() == 1U);
  const auto steps = steps_of(scenario, cells[2]);
  BOOST_TEST_REQUIRE(steps.size() == 2U);
  // The longer of two names that fit.
  BOOST_TEST(steps[1].words == "db by=2");
}

BOOST_AUTO_TEST_CASE(the_first_line_that_fits_is_what_is_expected) {
  const auto scenario = parse_scenario("a.scenario", kText);
  const auto cells = expand(scenario, kBoth);
  BOOST_TEST(expected_of(scenario, cells[0], "bare").line == 9);
  BOOST_TEST(expected_of(scenario, cells[1], "bare").line == 10);
  BOOST_TEST(expected_of(scenario, cells[4], "bare").line == 11);
  BOOST_TEST(expected_of(scenario, cells[4], "guard").line == 12);
  BOOST_CHECK_THROW((void)expected_of(scenario, cells[0], "guard"), ScenarioError);
}

BOOST_AUTO_TEST_CASE(a_variant_of_an_arm_may_be_expected_to_differ) {
  const auto scenario =
      parse_scenario("a.scenario", kText + "expect guard-process not_covered when strays == 2\n");
  const auto cells = expand(scenario, kBoth);
  BOOST_TEST(expected_of(scenario, cells[1], "guard-process").line == 12);
  BOOST_TEST(expected_of(scenario, cells[2], "guard-process").line == 13);
  BOOST_TEST(expected_of(scenario, cells[2], "guard").line == 12);
}

BOOST_AUTO_TEST_CASE(the_shell_runs_the_systems_sqlite_only) {
  const auto scenario = parse_scenario("a.scenario", kText + "visitor shell SELECT 1\n");
  const auto cells = expand(scenario, kBoth);
  BOOST_TEST(!steps_of(scenario, cells[0]).empty());
  BOOST_CHECK_THROW((void)steps_of(scenario, cells[3]), ScenarioError);
}

BOOST_AUTO_TEST_CASE(a_case_shows_harm_or_is_a_control) {
  const std::string harmless =
      "title A claim\nactor app\napp open wal\nexpect bare held\nexpect guard held\n";
  const std::string harmful = "title A claim\nactor app\napp open wal\nexpect bare harmed\n";
  const auto complaint = [](const std::string& text) {
    const auto scenario = parse_scenario("a.scenario", text);
    return complaint_about_claim(scenario, expand(scenario, kBoth));
  };
  BOOST_TEST(complaint(harmful).empty());
  BOOST_TEST(complaint(kText).empty());
  BOOST_TEST(complaint(harmless).starts_with("shows no harm"));
  BOOST_TEST(complaint("control nothing strays\n" + harmless).empty());
  BOOST_TEST(complaint("control nothing strays\n" + harmful).starts_with("is a control"));
}

Judgement judged(const std::string& expected, const std::set<std::string>& evidence) {
  const auto scenario = parse_scenario(
      "a.scenario", "title A\nactor app\napp open\nexpect bare held\nexpect guard " + expected);
  return judge(scenario.expectations.back(), evidence);
}

BOOST_AUTO_TEST_CASE(judgement) {
  BOOST_TEST(judged("held", {}).as_expected);
  BOOST_TEST(!judged("held", {"rows-lost"}).as_expected);
  BOOST_CHECK(judged("held", {"rows-lost"}).outcome == Outcome::harmed);
  BOOST_TEST(judged("harmed", {"sigbus"}).as_expected);
  BOOST_TEST(!judged("harmed", {}).as_expected);
  BOOST_TEST(judged("rows-lost", {"rows-lost", "wal-deleted"}).as_expected);
  BOOST_TEST(!judged("rows-lost, sigbus", {"rows-lost"}).as_expected);
}

BOOST_AUTO_TEST_CASE(a_harm_that_is_not_covered_must_still_happen) {
  BOOST_CHECK(judged("not_covered", {"rows-lost"}).outcome == Outcome::not_covered);
  BOOST_TEST(judged("not_covered", {"rows-lost"}).as_expected);
  BOOST_TEST(!judged("not_covered", {}).as_expected);
  BOOST_CHECK(judged("not_covered", {}).outcome == Outcome::held);
  BOOST_TEST(!judged("not_covered busy-missed", {"rows-lost"}).as_expected);
}

BOOST_AUTO_TEST_CASE(a_refusal_is_no_harm) {
  BOOST_TEST(evidence_of_result(0).empty());
  BOOST_TEST(evidence_of_result(5).empty());
  BOOST_TEST(evidence_of_result(517).empty());  // BUSY_SNAPSHOT
  BOOST_TEST(evidence_of_result(6).empty());
  BOOST_TEST(evidence_of_result(522) == "io-error");  // IOERR_SHORT_READ
  BOOST_TEST(evidence_of_result(11) == "corrupt");
  BOOST_TEST(evidence_of_result(26) == "corrupt");
  BOOST_TEST(evidence_of_result(1) == "sql-error");
  for (int code = 1; code <= 28; ++code) {
    const auto word = evidence_of_result(code);
    BOOST_TEST((word.empty() || is_evidence_word(word)));
  }
}

BOOST_AUTO_TEST_CASE(a_rowid_acknowledged_twice_is_two_rows) {
  Ledger ledger;
  ledger.add(nlohmann::json::parse(
      R"([["a.db","t",1,1],["a.db","t",2,1],["a.db","t",2,1],["a.db","t",3,1],["a.db","t",3,-1]])"));
  BOOST_TEST(ledger.acknowledged("a.db") == 3);
  BOOST_TEST(ledger.acknowledged("b.db") == 0);
  BOOST_TEST(ledger.missing("a.db", nlohmann::json::parse(R"({"t":[1,2,2]})")).empty());
  BOOST_TEST(ledger.missing("a.db", nlohmann::json::parse(R"({"t":[1,2,7]})")).size() == 1U);
  BOOST_TEST(ledger.missing("a.db", nlohmann::json::parse(R"({"u":[1]})")).size() == 3U);
  BOOST_TEST(ledger.missing("b.db", nlohmann::json::object()).empty());
}

}  // namespace
}  // namespace walguard::repro
