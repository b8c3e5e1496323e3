// SPDX-License-Identifier: MIT
#include "matrix.hpp"

#include <algorithm>

#include "arm.hpp"
#include "text.hpp"

namespace walguard::repro {

namespace {

struct Axis {
  std::string name;
  std::vector<std::string> values;
  bool is_sqlite;
};

std::vector<Axis> axes_of(const Scenario& scenario) {
  std::vector<Axis> axes;
  for (const auto& actor : scenario.actors) {
    axes.push_back({actor.name + ".sqlite", actor.sqlite, true});
  }
  for (const auto& variable : scenario.variables) {
    axes.push_back({variable.name, variable.values, false});
  }
  return axes;
}

Cell make_cell(const std::vector<Axis>& axes, const std::vector<std::size_t>& position,
               const Versions& versions) {
  Cell cell;
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto& axis = axes[i];
    Operand operand{axis.values[position[i]], {}};
    if (axis.is_sqlite) {
      const auto version = versions.resolve(operand.word);
      if (!version) cell.missing = operand.word;
      operand.version = version.value_or(operand.word);
    }
    if (axis.values.size() > 1) shown.push_back(axis.name + "=" + operand.word);
    cell.bindings.emplace_back(axis.name, std::move(operand));
  }
  cell.id = shown.empty() ? "-" : join(shown, " ");
  return cell;
}

bool holds(const Scenario& scenario, int line, const Expression& condition, const Cell& cell) {
  try {
    return condition.holds(cell.lookup());
  } catch (const std::invalid_argument& error) {
    throw ScenarioError(scenario.file, line,
                        "in the condition '" + condition.text() + "': " + error.what());
  }
}

// Replaces $name by the cell's value; the longest name wins, so that $by and $bypass can coexist.
std::string substituted(const Scenario& scenario, std::string text, const Cell& cell) {
  for (auto at = text.find('$'); at != std::string::npos; at = text.find('$', at)) {
    std::string best;
    for (const auto& variable : scenario.variables) {
      const bool matches = std::string_view(text).substr(at + 1).starts_with(variable.name);
      if (matches && variable.name.size() > best.size()) best = variable.name;
    }
    const auto operand = cell.find(best);
    if (!operand) return text;
    text.replace(at, best.size() + 1, operand->word);
    at += operand->word.size();
  }
  return text;
}

}  // namespace

std::optional<std::string> Versions::resolve(std::string_view word) const {
  if (word == "system") return system;
  if (next && next->starts_with(word)) return next;
  return std::nullopt;
}

std::optional<Operand> Cell::find(std::string_view name) const {
  const auto found = std::ranges::find(bindings, name, &std::pair<std::string, Operand>::first);
  if (found == bindings.end()) return std::nullopt;
  return found->second;
}

Lookup Cell::lookup() const {
  return [this](std::string_view name) { return find(name); };
}

std::vector<Cell> expand(const Scenario& scenario, const Versions& versions) {
  const auto axes = axes_of(scenario);
  std::vector<Cell> cells;
  std::vector<std::size_t> position(axes.size(), 0);
  while (true) {
    auto cell = make_cell(axes, position, versions);
    const auto is_omitted = [&](const Expression& condition) {
      return holds(scenario, 1, condition, cell);
    };
    if (std::ranges::none_of(scenario.omitted, is_omitted)) cells.push_back(std::move(cell));
    // The next combination: the last axis turns fastest.
    auto axis = axes.size();
    while (axis > 0 && ++position[axis - 1] == axes[axis - 1].values.size()) position[--axis] = 0;
    if (axis == 0) break;
  }
  if (cells.empty()) throw ScenarioError(scenario.file, 1, "every cell is omitted");
  return cells;
}

std::vector<Step> steps_of(const Scenario& scenario, const Cell& cell) {
  std::vector<Step> steps;
  for (const auto& step : scenario.steps) {
    const auto condition_holds = [&](const Expression& condition) {
      return holds(scenario, step.line, condition, cell);
    };
    if (!std::ranges::all_of(step.conditions, condition_holds)) continue;
    auto ready = step;
    ready.words = substituted(scenario, step.words, cell);
    const auto sqlite = cell.find(step.actor + ".sqlite");
    if (step.verb == "shell" && sqlite && sqlite->word != "system") {
      throw ScenarioError(scenario.file, step.line,
                          "the sqlite3 shell exists for sqlite=system only (cell " + cell.id +
                              "): use 'omit when ...'");
    }
    steps.push_back(std::move(ready));
  }
  return steps;
}

const Expectation& expected_of(const Scenario& scenario, const Cell& cell, std::string_view arm) {
  const auto* plugin = find_arm(arm);
  const auto general = plugin == nullptr ? arm : plugin->expects_as();
  for (const auto name : {arm, general}) {
    for (const auto& expected : scenario.expectations) {
      if (expected.arm != name) continue;
      if (!expected.when || holds(scenario, expected.line, *expected.when, cell)) return expected;
    }
  }
  throw ScenarioError(scenario.file, scenario.expectations.back().line,
                      "no 'expect " + std::string(arm) + "' line is for the cell " + cell.id);
}

std::string complaint_about_claim(const Scenario& scenario, const std::vector<Cell>& cells) {
  const auto bare_is_harmed = [&](const Cell& cell) {
    return expected_of(scenario, cell, "bare").outcome == Outcome::harmed;
  };
  const bool harmed = std::ranges::any_of(cells, bare_is_harmed);
  if (harmed && !scenario.control.empty()) return "is a control, and expects bare to be harmed";
  if (!harmed && scenario.control.empty()) {
    return "shows no harm: no cell expects bare to be harmed, and no 'control' line says why";
  }
  return {};
}

Judgement judge(const Expectation& expected, const std::set<std::string>& evidence) {
  if (evidence.empty()) return {Outcome::held, expected.outcome == Outcome::held};
  const bool all_seen = std::ranges::includes(evidence, expected.evidence);
  if (expected.outcome == Outcome::not_covered) return {Outcome::not_covered, all_seen};
  return {Outcome::harmed, expected.outcome == Outcome::harmed && all_seen};
}

}  // namespace walguard::repro
