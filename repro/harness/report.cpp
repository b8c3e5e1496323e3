// SPDX-License-Identifier: MIT
#include "report.hpp"

#include <algorithm>
#include <array>
#include <ostream>
#include <set>
#include <tuple>

#include "text.hpp"

namespace walguard::repro {

namespace {

std::string joined(const std::set<std::string>& words) {
  return join(std::vector<std::string>(words.begin(), words.end()), ", ");
}

std::string outcome_text(const Result& result) {
  if (result.skipped) return "skipped";
  if (!result.harness_error.empty()) return "error";
  return std::string(to_string(result.judgement.outcome));
}

std::string evidence_text(const Result& result) {
  if (result.skipped) return "SQLite " + result.cell.missing + " is not built";
  if (!result.harness_error.empty()) return "the harness failed";
  return joined(result.evidence.words());
}

std::string expected_text(const Expectation& expected) {
  auto text = std::string(to_string(expected.outcome));
  if (!expected.evidence.empty()) text += " (" + joined(expected.evidence) + ")";
  return text;
}

using Row = std::array<std::string, 6>;

Row row_of(const Result& result, int runs) {
  const auto times = runs > 1 ? " x" + std::to_string(runs) : std::string();
  const std::string verdict = result.skipped    ? "-"
                              : result.passed() ? "ok"
                                                : "NO, expected " + expected_text(*result.expected);
  return {result.scenario->name,        result.cell.id,        std::string(result.arm->name()),
          outcome_text(result) + times, evidence_text(result), verdict};
}

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

struct Counts {
  int held = 0;
  int harmed = 0;
  int not_covered = 0;
  int skipped = 0;
  int differing = 0;
};

}  // namespace

void print_table(std::ostream& out, const SuiteResult& suite) {
  std::vector<Row> rows{{"case", "cell", "arm", "outcome", "evidence", "as expected"}};
  for (std::size_t at = 0; at < suite.results.size();) {
    const auto& first = suite.results[at];
    const auto same = [&](const Result& other) {
      return other.scenario == first.scenario && other.cell.id == first.cell.id &&
             other.arm == first.arm && row_of(other, 1) == row_of(first, 1);
    };
    int runs = 0;
    for (; at < suite.results.size() && same(suite.results[at]); ++at) ++runs;
    rows.push_back(row_of(first, runs));
  }
  std::array<std::size_t, 6> widths{};
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) line += padded(row[i], widths[i]) + "  ";
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  }
}

void print_failures(std::ostream& out, const SuiteResult& suite) {
  for (const auto& result : suite.results) {
    if (result.passed()) continue;
    out << result.scenario->file << " [" << result.cell.id << "] " << result.arm->name() << " run "
        << result.run << ": ";
    if (!result.harness_error.empty()) {
      out << result.harness_error << '\n';
    } else {
      out << outcome_text(result) << ", expected " << expected_text(*result.expected) << " (line "
          << result.expected->line << ")\n";
    }
    for (const auto& detail : result.evidence.details()) out << "    " << detail << '\n';
    for (const auto& note : result.evidence.notes()) out << "    (" << note << ")\n";
    if (!result.kept.empty()) out << "    its files: " << result.kept.string() << '\n';
  }
  for (const auto& complaint : suite.complaints) {
    out << complaint.scenario->file << ": " << complaint.text << '\n';
  }
}

void print_summary(std::ostream& out, const SuiteResult& suite) {
  std::vector<std::pair<std::string_view, Counts>> by_arm;
  std::set<std::tuple<std::string, std::string, std::string_view>> seen;
  std::set<std::string> missing;
  for (const auto& result : suite.results) {
    auto entry =
        std::ranges::find(by_arm, result.arm->name(), &std::pair<std::string_view, Counts>::first);
    if (entry == by_arm.end()) entry = by_arm.insert(entry, {result.arm->name(), {}});
    auto& counts = entry->second;
    if (!result.passed()) ++counts.differing;
    // A cell is counted once, however often it was run.
    if (!seen.emplace(result.scenario->file, result.cell.id, result.arm->name()).second) continue;
    if (result.skipped) {
      ++counts.skipped;
      missing.insert(result.cell.missing);
    } else if (result.judgement.outcome == Outcome::held) {
      ++counts.held;
    } else if (result.judgement.outcome == Outcome::harmed) {
      ++counts.harmed;
    } else {
      ++counts.not_covered;
    }
  }
  for (const auto& [arm, counts] : by_arm) {
    out << arm << ": " << counts.harmed << " harmed, " << counts.held << " held, "
        << counts.not_covered << " not covered, " << counts.skipped << " skipped, "
        << counts.differing << " not as expected\n";
  }
  if (!missing.empty()) {
    out << "skipped cells need SQLite "
        << join(std::vector<std::string>(missing.begin(), missing.end()), ", ")
        << ", which was not built\n";
  }
}

nlohmann::json to_json(const SuiteResult& suite, const Versions& versions) {
  auto cases = nlohmann::json::array();
  for (const auto& result : suite.results) {
    auto cell = nlohmann::json::object();
    for (const auto& [name, operand] : result.cell.bindings) cell[name] = operand.word;
    nlohmann::json entry = {{"name", result.scenario->name},
                            {"title", result.scenario->title},
                            {"arm", result.arm->name()},
                            {"cell", std::move(cell)},
                            {"run", result.run},
                            {"outcome", outcome_text(result)},
                            {"expected", to_string(result.expected->outcome)},
                            {"expected_evidence", result.expected->evidence},
                            {"as_expected", result.passed()}};
    if (result.skipped) {
      entry["reason"] = evidence_text(result);
    } else {
      entry["seconds"] = result.seconds;
      entry["evidence"] = result.evidence.words();
      entry["details"] = result.evidence.details();
      entry["notes"] = result.evidence.notes();
      if (!result.harness_error.empty()) entry["reason"] = result.harness_error;
    }
    cases.push_back(std::move(entry));
  }
  auto complaints = nlohmann::json::array();
  for (const auto& complaint : suite.complaints) {
    complaints.push_back({{"name", complaint.scenario->name}, {"complaint", complaint.text}});
  }
  return {{"schema", "walguard.repro/1"},
          {"sqlite",
           {{"system", versions.system},
            {"next", versions.next ? nlohmann::json(*versions.next) : nlohmann::json()}}},
          {"passed", suite.passed()},
          {"cases", std::move(cases)},
          {"complaints", std::move(complaints)}};
}

}  // namespace walguard::repro
