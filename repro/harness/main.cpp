// SPDX-License-Identifier: MIT
//
// walguard-repro: shows what corrupts SQLite databases, and what a protection saves.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <iostream>

#include "evidence.hpp"
#include "process.hpp"
#include "report.hpp"
#include "suite.hpp"
#include "text.hpp"
#include "verbs.hpp"

namespace walguard::repro {

namespace {

namespace fs = std::filesystem;

constexpr int kAsExpected = 0;
constexpr int kDiffers = 1;
constexpr int kUsage = 2;

struct Options {
  std::vector<std::string> files;
  std::vector<std::string> arms;
  Settings settings;
  std::string json;
};

// The actor programs are installed and built beside this one.
fs::path own_folder() { return fs::read_symlink("/proc/self/exe").parent_path(); }

std::string version_of(const std::string& program) {
  const auto result = run_program(program, {"--version"}, fs::current_path());
  if (result.ending.status != 0) {
    throw HarnessError(program + " --version: " + result.ending.text());
  }
  return std::string(trimmed(result.output.substr(0, result.output.find('\n'))));
}

Programs find_programs() {
  Programs programs;
  programs.actor = own_folder() / "walguard-repro-actor";
  const auto next = own_folder() / "walguard-repro-actor-next";
  if (fs::exists(next)) programs.actor_next = next;
  return programs;
}

Versions find_versions(const Programs& programs) {
  Versions versions;
  versions.system = version_of(programs.actor);
  if (!programs.actor_next.empty()) versions.next = version_of(programs.actor_next);
  return versions;
}

// Files as they are given; all *.scenario of folders; without any, those of the source tree.
std::vector<Scenario> load(const std::vector<std::string>& arguments) {
  std::vector<std::string> files;
  const std::vector<std::string> fallback{WALGUARD_REPRO_SCENARIOS};
  for (const auto& argument : arguments.empty() ? fallback : arguments) {
    if (!fs::is_directory(argument)) {
      files.push_back(argument);
      continue;
    }
    const auto first = files.size();
    for (const auto& entry : fs::directory_iterator(argument)) {
      if (entry.path().extension() == ".scenario") files.push_back(entry.path());
    }
    std::sort(files.begin() + static_cast<std::ptrdiff_t>(first), files.end());
  }
  if (files.empty()) throw HarnessError("no *.scenario files in " + join(arguments, ", "));
  std::vector<Scenario> scenarios;
  for (const auto& file : files) scenarios.push_back(load_scenario(file));
  return scenarios;
}

int list(const Options& options) {
  const auto scenarios = load(options.files);
  const auto versions = find_versions(find_programs());
  for (const auto& scenario : scenarios) {
    const auto cells = expand(scenario, versions);
    const auto harmed = std::ranges::count_if(cells, [&](const Cell& cell) {
      return expected_of(scenario, cell, "bare").outcome == Outcome::harmed;
    });
    std::cout << scenario.name << "\n    " << scenario.title << "\n    " << cells.size()
              << " cells, bare is harmed in " << harmed
              << (scenario.control.empty() ? "" : " (control: " + scenario.control + ")") << '\n';
  }
  std::cout << "arms:\n";
  for (const auto* arm : all_arms()) {
    if (arm->listed()) std::cout << "    " << arm->name() << ": " << arm->summary() << '\n';
  }
  return kAsExpected;
}

// What a person needs to write a scenario.
int language() {
  std::cout << R"(A scenario is a text file of lines; '#' begins a comment.

  title TEXT                           what the case claims goes wrong
  control REASON                       no cell harms bare, and why the case is there all the same
  actor NAME [ours] [sqlite=V,V...]    a process; V is 'system' or a version such as 3.53, and the
                                       case runs once for each. 'ours' is what an arm protects; an
                                       actor called app is ours
  vary NAME VALUE,VALUE...             the case runs once for each; steps say $NAME
  omit when CONDITION                  leaves cells out
  NAME [must] STEP                     'must': a refusal (BUSY) is evidence too
  if CONDITION: NAME STEP              a step of some cells only; without ':' up to a line 'end'
  repeat COUNT ... end                 $i counts
  expect ARM held|harmed|not_covered|EVIDENCE,... [when CONDITION]
                                       the first line that fits a cell counts; all the evidence it
                                       names must be seen. not_covered: a harm that the arm is known
                                       not to prevent

A CONDITION compares variables, and ACTOR.sqlite, by == != < <= > >= or 'in A,B', joined by 'and',
'or', 'not' and parentheses. The database is test.db unless a step says db=FILE.

Steps of an actor:
)";
  for (const bool outside : {false, true}) {
    if (outside) std::cout << "\nSteps of 'outside', which is the harness:\n";
    for (const auto& verb : verbs()) {
      if (verb.outside != outside) continue;
      std::cout << "  " << verb.usage << '\n';
      if (!verb.meaning.empty()) std::cout << "      " << verb.meaning << '\n';
    }
  }
  std::cout << "\nEvidence:\n";
  for (const auto& [word, meaning] : evidence_words()) {
    std::cout << "  " << word << std::string(18 - word.size(), ' ') << meaning << '\n';
  }
  return kAsExpected;
}

std::vector<const Arm*> chosen_arms(const std::vector<std::string>& names) {
  std::vector<const Arm*> arms;
  if (names.empty()) {
    std::ranges::copy_if(all_arms(), std::back_inserter(arms), &Arm::runs_by_default);
  }
  for (const auto& name : names) {
    arms.push_back(find_arm(name));
    if (arms.back() == nullptr) {
      throw HarnessError("no arm is called '" + name + "'; known: " + join(arm_names(), ", "));
    }
  }
  return arms;
}

int run(Options& options) {
  options.settings.arms = chosen_arms(options.arms);
  options.settings.progress = ::isatty(STDERR_FILENO) != 0;
  const auto scenarios = load(options.files);
  const auto programs = find_programs();
  const auto versions = find_versions(programs);
  const auto suite = run_suite(scenarios, versions, programs, options.settings);
  print_table(std::cout, suite);
  print_summary(std::cout, suite);
  std::cout.flush();
  print_failures(std::cerr, suite);
  if (!options.json.empty()) {
    std::ofstream file(options.json);
    file << to_json(suite, versions).dump(2) << '\n';
    if (!file.flush()) throw HarnessError("cannot write " + options.json);
  }
  return suite.passed() ? kAsExpected : kDiffers;
}

int main_of(int argc, char** argv) {
  CLI::App app("Shows what corrupts SQLite databases, and what a protection saves.",
               "walguard-repro");
  app.require_subcommand(1);
  Options options;
  auto* list_command = app.add_subcommand("list", "names the scenarios and the arms");
  auto* language_command = app.add_subcommand("language", "tells how a scenario is written");
  auto* run_command = app.add_subcommand("run", "runs scenarios and judges what was seen");
  for (auto* command : {list_command, run_command}) {
    command->add_option("FILE", options.files, "scenario files, or folders of them");
  }
  run_command->add_option("--arm", options.arms, "only these arms")->delimiter(',');
  run_command->add_option("--runs", options.settings.runs, "how often each cell is run")
      ->check(CLI::Range(1, 100'000));
  run_command->add_option("--jobs", options.settings.workers, "how many cells run at a time")
      ->check(CLI::Range(1, 64));
  run_command->add_option("--json", options.json, "writes the results there too");
  run_command->add_flag("--keep", options.settings.keep, "keeps the files of every cell");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kAsExpected : kUsage;
  }
  if (language_command->parsed()) return language();
  adopt_orphans();
  return list_command->parsed() ? list(options) : run(options);
}

}  // namespace

}  // namespace walguard::repro

int main(int argc, char** argv) {
  try {
    return walguard::repro::main_of(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "walguard-repro: " << error.what() << '\n';
    return walguard::repro::kUsage;
  }
}
