// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE repro_scenario
#ifndef BOOST_TEST_DYN_LINK
#define BOOST_TEST_DYN_LINK
#endif
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <ostream>
#include <string>

#include "scenario.hpp"

namespace walguard::repro {
namespace {

const std::string kMinimal =
    "title A claim\n"
    "actor app\n"
    "vary stray none,db\n"
    "app open wal\n"
    "expect bare held\n";

std::string complaint_about(const std::string& text) {
  try {
    (void)parse_scenario("folder/case.scenario", text);
  } catch (const ScenarioError& error) {
    return error.what();
  }
  return {};
}

BOOST_AUTO_TEST_CASE(every_part_is_read) {
  const auto scenario = parse_scenario("folder/keeps_wal.scenario",
                                       "# a comment\n"
                                       "title  One line   # and a comment\n"
                                       "actor  app      sqlite=system\n"
                                       "actor  visitor  sqlite=system,3.53\n"
                                       "actor  other    ours\n"
                                       "vary   stray  none, db\n"
                                       "omit   when stray == none and visitor.sqlite == 3.53\n"
                                       "app    exec INSERT INTO t VALUES('#1')  # no row\n"
                                       "if stray == db: app stray $stray\n"
                                       "visitor must journal delete\n"
                                       "outside locked both\n"
                                       "expect bare wal-deleted, rows-lost when stray == db\n"
                                       "expect bare held\n"
                                       "expect guard not_covered rows-lost\n");
  BOOST_TEST(scenario.name == "keeps_wal");
  BOOST_TEST(scenario.title == "One line");
  BOOST_TEST_REQUIRE(scenario.actors.size() == 3U);
  BOOST_TEST(scenario.actors[0].ours);  // because of its name
  BOOST_TEST(!scenario.actors[1].ours);
  BOOST_TEST(scenario.actors[1].sqlite.at(1) == "3.53");
  BOOST_TEST(scenario.actors[2].ours);
  BOOST_TEST(scenario.variables.at(0).values.at(1) == "db");
  BOOST_TEST(scenario.omitted.size() == 1U);
  BOOST_TEST_REQUIRE(scenario.steps.size() == 4U);
  BOOST_TEST(scenario.steps[0].words == "INSERT INTO t VALUES('#1')");
  BOOST_TEST(scenario.steps[0].line == 8);
  BOOST_TEST(scenario.steps[1].conditions.size() == 1U);
  BOOST_TEST(scenario.steps[2].must);
  BOOST_TEST(scenario.steps[2].verb == "journal");
  BOOST_TEST_REQUIRE(scenario.expectations.size() == 3U);
  BOOST_TEST(scenario.expectations[0].evidence.size() == 2U);
  BOOST_CHECK(scenario.expectations[0].outcome == Outcome::harmed);
  BOOST_TEST(scenario.expectations[0].when.has_value());
  BOOST_CHECK(scenario.expectations[2].outcome == Outcome::not_covered);
}

BOOST_AUTO_TEST_CASE(blocks_repeat_and_nest) {
  const auto scenario = parse_scenario("a.scenario", kMinimal +
                                                         "repeat 2\n"
                                                         "app insert $i\n"
                                                         "if stray == db\n"
                                                         "app stray db\n"
                                                         "app close\n"
                                                         "end\n"
                                                         "end\n");
  BOOST_TEST_REQUIRE(scenario.steps.size() == 7U);
  BOOST_TEST(scenario.steps[1].words == "1");
  BOOST_TEST(scenario.steps[4].words == "2");
  BOOST_TEST(scenario.steps[3].conditions.size() == 1U);
  BOOST_TEST(scenario.steps[4].conditions.empty());
}

BOOST_AUTO_TEST_CASE(a_child_is_an_actor_from_its_fork_on) {
  BOOST_TEST(complaint_about(kMinimal + "app fork child\nchild exit\n").empty());
  BOOST_TEST(complaint_about(kMinimal + "repeat 3\napp fork child\nchild exit\nend\n").empty());
  BOOST_TEST(complaint_about(kMinimal + "child exit\napp fork child\n") ==
             "folder/case.scenario:6: 'child' is no keyword and no actor");
}

struct Mistake {
  std::string line;   // follows the minimal scenario, so it is line 6
  std::string words;  // that the complaint must have
};

std::ostream& operator<<(std::ostream& out, const Mistake& mistake) { return out << mistake.line; }

const Mistake kMistakes[] = {
    {"nobody open", "'nobody' is no keyword and no actor"},
    {"app", "usage: ACTOR STEP"},
    {"app opne wal", "no step is called 'opne'; known: open exec"},
    {"app exec", "usage: exec [@CONN] SQL"},
    {"app exec @second", "usage: exec [@CONN] SQL"},
    {"outside open", "'outside' has no verb 'open'"},
    {"app stray $what", "'$what' begins with no variable's name"},
    {"title Again", "a second 'title'"},
    {"actor app", "'app' is declared twice"},
    {"actor outside", "'outside' cannot name an actor"},
    {"actor new sqlite=newest", "sqlite= takes 'system' or a version"},
    {"actor new theirs", "usage: actor NAME"},
    {"vary stray a,b", "'stray' varies twice"},
    {"vary by open,,dup", "a value of 'by' is empty"},
    {"omit stray == db", "usage: omit when CONDITION"},
    {"omit when stray = db", "one of == != < <= > >= in is expected, not '='"},
    {"omit when stray ==", "a value is missing"},
    {"omit when (stray == db", "')' is missing"},
    {"omit when stray == db by", "'by' is not expected here"},
    {"if other == db: app close", "'other' in a condition is no variable"},
    {"if app.version == 3: app close", "'app.version' in a condition is no variable"},
    {"if nobody.sqlite == 3: app close", "'nobody.sqlite' in a condition"},
    {"if stray == db\napp close", "this block has no 'end'"},
    {"end", "'end' without 'repeat' or 'if'"},
    {"repeat many\nend", "usage: repeat COUNT"},
    {"repeat 0\nend", "usage: repeat COUNT"},
    {"repeat 2\nvary by a,b\nend", "cannot stand inside"},
    {"expect nothing held", "no arm is called 'nothing'"},
    {"expect bare", "usage: expect ARM"},
    {"expect bare eaten", "'eaten' is no outcome"},
    {"expect bare held rows-lost", "'held' has no evidence"},
    {"expect bare held harmed", "'harmed' after another outcome"},
    {"expect bare not_covered", "bare protects nothing"},
    {"expect guard held when shape == round", "'shape' in a condition is no variable"},
};

BOOST_DATA_TEST_CASE(mistakes_are_told_with_file_and_line, kMistakes, mistake) {
  const auto complaint = complaint_about(kMinimal + mistake.line + "\n");
  const bool says_why = complaint.find(mistake.words) != std::string::npos;
  BOOST_TEST(says_why, complaint << " does not say: " << mistake.words);
  const bool says_where =
      complaint.starts_with("folder/case.scenario:") &&
      (complaint.find(":6: ") != std::string::npos || complaint.find(":7: ") != std::string::npos ||
       mistake.line.starts_with("omit"));
  BOOST_TEST(says_where, complaint);
}

BOOST_AUTO_TEST_CASE(a_scenario_needs_its_parts) {
  BOOST_TEST(complaint_about("") == "folder/case.scenario:1: no 'title'");
  BOOST_TEST(complaint_about("title A\n") == "folder/case.scenario:1: no 'actor'");
  BOOST_TEST(complaint_about("title A\nactor app\n") == "folder/case.scenario:1: no steps");
  BOOST_TEST(complaint_about("title A\nactor app\napp open\nexpect guard held\n") ==
             "folder/case.scenario:1: no 'expect bare ...'");
}

BOOST_AUTO_TEST_CASE(a_file_that_cannot_be_read_is_named) {
  BOOST_CHECK_EXCEPTION((void)load_scenario("no/such.scenario"), ScenarioError,
                        [](const ScenarioError& error) {
                          return std::string(error.what()).starts_with("no/such.scenario:1: ");
                        });
}

}  // namespace
}  // namespace walguard::repro
