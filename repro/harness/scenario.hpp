// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "expression.hpp"

namespace walguard::repro {

// A scenario that cannot be understood; what() is "FILE:LINE: sentence".
class ScenarioError : public std::runtime_error {
 public:
  ScenarioError(const std::string& file, int line, const std::string& what)
      : std::runtime_error(file + ":" + std::to_string(line) + ": " + what) {}
};

struct ActorDeclaration {
  std::string name;
  std::vector<std::string> sqlite;  // "system", or a version such as "3.53"
  bool ours = false;                // the program that the arm protects; others are unmodified
  int line = 0;
};

struct Variable {
  std::string name;
  std::vector<std::string> values;
  int line = 0;
};

struct Step {
  int line = 0;
  std::string actor;
  std::string verb;
  std::string words;                   // the rest of the line, variables not yet replaced
  bool must = false;                   // a refusal (BUSY) is evidence too
  std::vector<Expression> conditions;  // all must hold, else the step is left out
};

enum class Outcome { held, harmed, not_covered };

[[nodiscard]] std::string_view to_string(Outcome outcome);

struct Expectation {
  int line = 0;
  std::string arm;
  Outcome outcome = Outcome::held;
  std::set<std::string> evidence;  // all of it must be seen; more may be
  std::optional<Expression> when;
};

struct Scenario {
  std::string file;
  std::string name;  // the file's name without folder and suffix: a claim
  std::string title;
  std::string control;  // why no cell harms bare, "" for a scenario that shows harm
  std::vector<ActorDeclaration> actors;
  std::vector<Variable> variables;
  std::vector<Expression> omitted;  // cells that make no sense
  std::vector<Step> steps;
  std::vector<Expectation> expectations;

  [[nodiscard]] bool expects_arm(std::string_view arm) const;
};

// Throws ScenarioError.
[[nodiscard]] Scenario parse_scenario(const std::string& file, std::string_view text);
[[nodiscard]] Scenario load_scenario(const std::string& file);

}  // namespace walguard::repro
