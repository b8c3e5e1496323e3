// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cell_runner.hpp"
#include "matrix.hpp"
#include "scenario.hpp"

namespace walguard::repro {

struct Settings {
  std::vector<const Arm*> arms;
  int runs = 1;
  unsigned workers = 3;
  bool keep = false;
  bool progress = false;
};

// One run of one cell under one arm.
struct Result {
  const Scenario* scenario = nullptr;
  Cell cell;
  const Arm* arm = nullptr;
  const Expectation* expected = nullptr;
  int run = 1;
  bool skipped = false;  // it needs a SQLite that was not built
  Judgement judgement;
  Evidence evidence;
  std::string harness_error;   // "" for none; with one there is no outcome
  std::filesystem::path kept;  // where its files are, "" when they are removed
  double seconds = 0;

  [[nodiscard]] bool passed() const {
    return skipped || (harness_error.empty() && judgement.as_expected);
  }
};

// A scenario that does not hold as a whole: it shows no harm, or nothing of it could be run.
struct Complaint {
  const Scenario* scenario;
  std::string text;
};

struct SuiteResult {
  std::vector<Result> results;  // in the order of files, cells, arms, runs
  std::vector<Complaint> complaints;

  [[nodiscard]] bool passed() const;
};

// Runs everything. The scenarios must outlive the result. Throws ScenarioError before anything is
// run, std::system_error when no private directory can be made.
[[nodiscard]] SuiteResult run_suite(const std::vector<Scenario>& scenarios,
                                    const Versions& versions, const Programs& programs,
                                    const Settings& settings);

}  // namespace walguard::repro
