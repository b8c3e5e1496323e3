// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "expression.hpp"
#include "scenario.hpp"

namespace walguard::repro {

// The SQLite versions that actors exist for.
struct Versions {
  std::string system;               // "3.40.1"
  std::optional<std::string> next;  // "3.53.2", absent when it was not built

  // The version behind a word of an actor's line; nullopt when it was not built.
  [[nodiscard]] std::optional<std::string> resolve(std::string_view word) const;
};

// One combination of a scenario's variables and SQLite versions.
struct Cell {
  std::vector<std::pair<std::string, Operand>> bindings;  // "visitor.sqlite", "stray", ...
  std::string id;       // "visitor.sqlite=3.53 stray=db", "-" when nothing varies
  std::string missing;  // a SQLite version that it needs and that was not built

  [[nodiscard]] std::optional<Operand> find(std::string_view name) const;
  [[nodiscard]] Lookup lookup() const;
};

// All cells in the order of the file. Throws ScenarioError.
[[nodiscard]] std::vector<Cell> expand(const Scenario& scenario, const Versions& versions);

// The steps of one cell: conditions applied, variables replaced. Throws ScenarioError.
[[nodiscard]] std::vector<Step> steps_of(const Scenario& scenario, const Cell& cell);

// The first `expect` line of the arm that is for this cell; if there is none, that of the arm which
// it is a variant of. Throws ScenarioError if there is none either.
[[nodiscard]] const Expectation& expected_of(const Scenario& scenario, const Cell& cell,
                                             std::string_view arm);

// What is wrong with the scenario's claim as a whole, "" for nothing: a scenario shows harm in bare
// in at least one cell, or is a control that shows none.
[[nodiscard]] std::string complaint_about_claim(const Scenario& scenario,
                                                const std::vector<Cell>& cells);

struct Judgement {
  Outcome outcome = Outcome::held;
  bool as_expected = false;
};

[[nodiscard]] Judgement judge(const Expectation& expected, const std::set<std::string>& evidence);

}  // namespace walguard::repro
