// SPDX-License-Identifier: MIT
#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>

#include "suite.hpp"

namespace walguard::repro {

// The table: one line a cell and arm; runs that agree share a line.
void print_table(std::ostream& out, const SuiteResult& suite);

// What a person needs to look into a run that is not as expected.
void print_failures(std::ostream& out, const SuiteResult& suite);

// The counts, in one or two lines.
void print_summary(std::ostream& out, const SuiteResult& suite);

// Schema walguard.repro/1.
[[nodiscard]] nlohmann::json to_json(const SuiteResult& suite, const Versions& versions);

}  // namespace walguard::repro
