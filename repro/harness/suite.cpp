// SPDX-License-Identifier: MIT
#include "suite.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <system_error>
#include <thread>

namespace walguard::repro {

namespace {

// The directory of one invocation; every run has one of its own in it.
class PrivateDirectory {
 public:
  PrivateDirectory() {
    auto pattern = (std::filesystem::temp_directory_path() / "walguard-repro-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(), "mkdtemp " + pattern);
    }
    path_ = pattern;
  }
  ~PrivateDirectory() {
    std::error_code not_empty;  // something was kept in it
    std::filesystem::remove(path_, not_empty);
  }
  PrivateDirectory(const PrivateDirectory&) = delete;
  PrivateDirectory& operator=(const PrivateDirectory&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

class Progress {
 public:
  Progress(bool on, std::size_t total) : on_(on), total_(total) {}
  ~Progress() {
    if (on_) std::fputs("\r\033[K", stderr);
  }
  void advance() {
    if (!on_) return;
    const std::lock_guard lock(mutex_);
    std::fprintf(stderr, "\r%zu of %zu", ++done_, total_);
  }

 private:
  bool on_;
  std::size_t total_;
  std::size_t done_ = 0;
  std::mutex mutex_;
};

void run_one(Result& result, const Programs& programs, const std::filesystem::path& directory,
             bool keep) {
  const auto started = std::chrono::steady_clock::now();
  try {
    std::filesystem::create_directory(directory);
    CellRunner runner(*result.scenario, result.cell, *result.arm, programs, directory);
    result.evidence = runner.run();
    result.judgement = judge(*result.expected, result.evidence.words());
  } catch (const std::exception& error) {
    result.harness_error = error.what();
  }
  result.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  if (keep || !result.passed()) {
    result.kept = directory;
  } else {
    std::error_code ignored;
    std::filesystem::remove_all(directory, ignored);
  }
}

std::vector<Result> planned(const Scenario& scenario, const std::vector<Cell>& cells,
                            const Settings& settings) {
  std::vector<Result> plan;
  for (const auto& cell : cells) {
    (void)steps_of(scenario, cell);  // finds mistakes before anything is run
    for (const auto* arm : settings.arms) {
      if (!scenario.expects_arm(arm->expects_as())) continue;
      Result result;
      result.scenario = &scenario;
      result.cell = cell;
      result.arm = arm;
      result.expected = &expected_of(scenario, cell, arm->name());
      result.skipped = !cell.missing.empty();
      const int runs = result.skipped ? 1 : settings.runs;
      for (result.run = 1; result.run <= runs; ++result.run) plan.push_back(result);
    }
  }
  return plan;
}

}  // namespace

bool SuiteResult::passed() const {
  return complaints.empty() && std::ranges::all_of(results, &Result::passed);
}

SuiteResult run_suite(const std::vector<Scenario>& scenarios, const Versions& versions,
                      const Programs& programs, const Settings& settings) {
  SuiteResult suite;
  for (const auto& scenario : scenarios) {
    const auto cells = expand(scenario, versions);
    auto complaint = complaint_about_claim(scenario, cells);
    auto plan = planned(scenario, cells, settings);
    if (complaint.empty() && std::ranges::all_of(plan, &Result::skipped)) {
      complaint = plan.empty() ? "expects nothing of the chosen arms" : "every cell is skipped";
    }
    if (!complaint.empty()) suite.complaints.push_back({&scenario, complaint});
    std::ranges::move(plan, std::back_inserter(suite.results));
  }

  const PrivateDirectory root;
  const auto to_run = static_cast<std::size_t>(
      std::ranges::count_if(suite.results, [](const Result& result) { return !result.skipped; }));
  Progress progress(settings.progress, to_run);
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (auto at = next++; at < suite.results.size(); at = next++) {
      auto& result = suite.results[at];
      if (result.skipped) continue;
      run_one(result, programs, root.path() / std::to_string(at), settings.keep);
      progress.advance();
    }
  };
  {
    std::vector<std::jthread> workers;
    for (unsigned i = 0; i < settings.workers; ++i) workers.emplace_back(work);
  }
  return suite;
}

}  // namespace walguard::repro
