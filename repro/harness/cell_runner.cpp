// SPDX-License-Identifier: MIT
#include "cell_runner.hpp"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <utility>

#include "oracles.hpp"
#include "text.hpp"
#include "verbs.hpp"

namespace walguard::repro {

namespace {

constexpr std::string_view kDatabase = "test.db";

std::string connection_of(std::string_view words) {
  return words.starts_with('@') ? take_word(words).substr(1) : std::string("main");
}

// Takes `db=FILE` out of the words.
std::string take_database(std::vector<std::string>& words) {
  std::string file(kDatabase);
  std::erase_if(words, [&](const std::string& word) {
    if (!word.starts_with("db=")) return false;
    file = word.substr(3);
    return true;
  });
  return file;
}

// The result code that the sqlite3 shell prints in parentheses, 1 when it prints none.
int code_in(const std::string& output) {
  int code = 1;
  for (auto open = output.find('('); open != std::string::npos; open = output.find('(', open + 1)) {
    std::size_t digits = 0;
    const auto close = output.find(')', open);
    const auto inside = output.substr(open + 1, close - open - 1);
    while (digits < inside.size() && std::isdigit(static_cast<unsigned char>(inside[digits]))) {
      ++digits;
    }
    if (digits > 0 && digits == inside.size() && digits < 6) code = std::stoi(inside);
  }
  return code;
}

bool is_write(std::string sql) {
  std::ranges::transform(sql, sql.begin(), [](unsigned char c) { return std::toupper(c); });
  return sql.find("INSERT ") != std::string::npos || sql.find("UPDATE ") != std::string::npos ||
         sql.find("DELETE ") != std::string::npos;
}

}  // namespace

CellRunner::CellRunner(const Scenario& scenario, const Cell& cell, const Arm& arm,
                       const Programs& programs, std::filesystem::path directory)
    : scenario_(scenario),
      cell_(cell),
      arm_(arm),
      programs_(programs),
      directory_(std::move(directory)),
      watch_(directory_) {
  watch_.add(std::string(kDatabase));
  for (const auto& declared : scenario.actors) {
    order_.push_back(declared.name);
    actors_[declared.name].ours = declared.ours;
  }
}

CellRunner::~CellRunner() { kill_everybody(); }

Evidence CellRunner::run() {
  for (const auto& step : steps_of(scenario_, cell_)) {
    for (auto& [name, actor] : actors_) actor.links_before = actor.links;
    perform(step);
    // What a started step does meanwhile is seen after the step that waits for it: looking now
    // would make the result depend on time.
    if (step.verb != "start") observe();
  }
  for (const auto& file : ledger_.files()) {
    for (const auto& line : lock_lines(directory_, file)) evidence_.note("locks: " + line);
  }
  const FreshProcessOracle oracle(programs_.actor, directory_);
  oracle.look_at_copy(ledger_, evidence_);
  end_everybody();
  oracle.look_at_files(ledger_, evidence_);
  return std::move(evidence_);
}

std::string CellRunner::place(const Step& step) const {
  return scenario_.file + ":" + std::to_string(step.line) + ": " + step.actor + " " + step.verb;
}

void CellRunner::perform(const Step& step) {
  if (step.actor == kOutside) return perform_outside(step);
  if (step.verb == "shell") return perform_shell(step);
  auto& actor = actors_[step.actor];
  if (actor.died) return;
  if (step.verb == "kill" || step.verb == "stop" || step.verb == "continue") {
    return perform_signal(step, actor);
  }
  perform_command(step, actor);
}

void CellRunner::perform_outside(const Step& step) {
  auto words = split_words(step.words);
  const auto file = take_database(words);
  if (step.verb == "no-sidecars") return probe_no_sidecars(directory_, file, evidence_);
  if (step.verb == "copy") {
    std::filesystem::copy_file(directory_ / words.at(0), directory_ / words.at(1));
    return;
  }
  if (words.at(0) != "db" && words.at(0) != "shm" && words.at(0) != "both") {
    throw HarnessError(place(step) + ": '" + words[0] + "' is none of db, shm, both");
  }
  probe_locks(directory_, file, words[0], step.verb == "locked", evidence_);
}

void CellRunner::perform_signal(const Step& step, Actor& actor) {
  if (!actor.process) throw HarnessError(place(step) + ": it is not running");
  if (step.verb == "kill") {
    actor.process->send_signal(SIGKILL);
    return bury(step.actor, actor, true);
  }
  actor.stopped = step.verb == "stop";
  actor.process->send_signal(actor.stopped ? SIGSTOP : SIGCONT);
  if (!actor.stopped) return;
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(actor.process->pid()), &info, WSTOPPED | WNOWAIT);
}

void CellRunner::perform_shell(const Step& step) {
  std::string_view rest = step.words;
  std::vector<std::string> arguments{"-batch"};
  std::string file(kDatabase);
  while (rest.starts_with('-') || rest.starts_with("db=")) {
    auto word = take_word(rest);
    if (word.starts_with("db=")) {
      file = word.substr(3);
    } else {
      arguments.push_back(std::move(word));
    }
  }
  arguments.push_back(file);
  arguments.emplace_back(rest);
  const auto result = run_program(programs_.shell, arguments, directory_);
  if (result.ending.signal() != 0) {
    evidence_.add(result.ending.signal() == SIGBUS ? "sigbus" : "crashed",
                  "the sqlite3 shell: " + result.ending.text());
  } else if (result.ending.status != 0) {
    const auto word = evidence_of_result(code_in(result.output));
    const auto said = "shell: " + result.output.substr(0, result.output.find('\n'));
    if (!word.empty()) {
      evidence_.add(word, said);
    } else if (step.must) {
      evidence_.add("refused", said);
    } else {
      evidence_.note(said);
    }
  } else {
    look_for_missed_locks(step, is_write(std::string(rest)) && file == kDatabase,
                          nlohmann::json::array(), false);
  }
}

void CellRunner::start(const std::string& name, Actor& actor) {
  Launch launch;
  const auto sqlite = cell_.find(name + ".sqlite");
  if (!sqlite) throw HarnessError("the child '" + name + "' does not run (any more)");
  launch.program = sqlite->word == "system" ? programs_.actor : programs_.actor_next;
  if (actor.ours) arm_.prepare(launch);
  launch.arguments.push_back(launch.protection);
  actor.process = ActorProcess::start(launch, directory_);
  actor.pid = actor.process->pid();
}

void CellRunner::perform_command(const Step& step, Actor& actor) {
  if (actor.stopped) throw HarnessError(place(step) + ": it is stopped");
  if (step.verb == "until-cut" || step.verb == "await") return perform_await(step, actor);
  if (actor.running) throw HarnessError(place(step) + ": it was not awaited");
  if (!actor.process) start(step.actor, actor);
  if (step.verb == "start") {
    std::string_view words = step.words;
    actor.running = step;
    actor.running->verb = take_word(words);
    actor.running->words = words;
    return actor.process->send(step.words);
  }
  auto command = step.verb + (step.words.empty() ? "" : " " + step.words);
  const auto answer = actor.process->request(command);
  const bool leaves = step.verb == "end" || step.verb == "exit" || step.verb == "quit";
  if (answer) take_answer(step, actor, *answer);
  if (!answer || leaves) bury(step.actor, actor, leaves && answer);
}

void CellRunner::perform_await(const Step& step, Actor& actor) {
  if (!actor.running) throw HarnessError(place(step) + ": no step was started");
  if (step.verb == "until-cut") return watch_.wait_for_cut(actor.process->descriptor());
  const auto started = std::exchange(actor.running, std::nullopt);
  if (const auto answer = actor.process->answer()) {
    take_answer(*started, actor, *answer);
  } else {
    bury(step.actor, actor, false);
  }
}

void CellRunner::take_answer(const Step& step, Actor& actor, const nlohmann::json& answer) {
  const auto text = answer["text"].get<std::string>();
  if (const auto fault = answer["fault"].get<std::string>(); !fault.empty()) {
    // After harm a step may have lost what it stands on; before, the scenario is wrong.
    if (evidence_.words().empty()) throw HarnessError(place(step) + ": " + fault);
    evidence_.note(place(step) + ": " + fault);
  }
  const int rc = answer["rc"].get<int>();
  const auto said = step.actor + " " + step.verb + ": " + std::to_string(rc) + " " + text;
  if (const auto word = evidence_of_result(rc); !word.empty()) {
    evidence_.add(word, said);
  } else if (rc != 0) {
    if (step.must) {
      evidence_.add("refused", said);
    } else {
      evidence_.note(said);
    }
  }
  for (const auto& found : answer["evidence"]) {
    const auto line = found.get<std::string>();
    const auto colon = line.find(": ");
    evidence_.add(line.substr(0, colon), step.actor + " " + line.substr(colon + 2));
  }
  for (const auto& note : answer["notes"]) evidence_.note(note.get<std::string>());

  ledger_.add(answer["acknowledged"]);
  look_for_missed_locks(step, false, answer["acknowledged"],
                        rc == 0 && step.verb == "checkpoint" && !step.words.ends_with("passive"));
  actor.paused = answer["paused"].get<bool>();
  actor.links.clear();
  for (const auto& connection : answer["connections"]) {
    for (const auto& schema : connection["schemas"]) {
      watch_.add(schema["file"]);
      actor.links.push_back({connection["name"], schema["file"], schema["transaction"],
                             connection["serial"].get<int>()});
    }
  }
  if (const auto pid = answer["child"].get<pid_t>(); pid != 0) adopt_child(step, actor, pid);
}

void CellRunner::adopt_child(const Step& step, Actor& parent, pid_t pid) {
  auto& child = actors_[step.words];
  if (std::ranges::find(order_, step.words) == order_.end()) order_.push_back(step.words);
  if (child.process) ended_.push_back(std::move(child.process));
  child = Actor{};
  child.ours = parent.ours;
  child.process =
      std::make_unique<ActorProcess>(parent.process->take_channel(), pid, parent.process.get());
  child.pid = pid;
  if (step.verb == "fork") {
    for (const auto& link : parent.links) child.inherited.insert(link.connection);
  }
  // Its parent has gone on before the child has run its fork handlers, or closed at its exec what
  // is close-on-exec. With its first answer (to a step that does nothing) both are over.
  if (!child.process->request("ready")) bury(step.words, child, false);
}

// What another connection was let do although this one's locks should have kept it out.
void CellRunner::look_for_missed_locks(const Step& step, bool wrote_to_test_db,
                                       const nlohmann::json& acknowledged, bool checkpointed) {
  const auto acting = connection_of(step.words);
  for (const auto& [name, actor] : actors_) {
    for (const auto& link : actor.links_before) {
      if (!actor.process || actor.inherited.contains(link.connection)) continue;
      if (name == step.actor && link.connection == acting) continue;
      const bool wrote =
          Ledger::touches(acknowledged, link.file) || (wrote_to_test_db && link.file == kDatabase);
      const auto who = step.actor + " while " + name;
      if (wrote && link.transaction == "write") {
        evidence_.add("busy-missed", who + " is inside a write transaction");
      }
      if (checkpointed && link.transaction != "none" && link.file == kDatabase) {
        evidence_.add("busy-missed", who + " is inside a transaction: checkpointed");
      }
    }
  }
}

void CellRunner::bury(const std::string& name, Actor& actor, bool expected) {
  const auto ending = actor.process->wait();
  if (!expected) {
    evidence_.add(ending.signal() == SIGBUS ? "sigbus" : "crashed", name + ": " + ending.text());
    actor.died = true;
  } else if (ending.signal() == 0 && ending.status != 0) {
    evidence_.add("crashed", name + ": " + ending.text());
  } else if (ending.signal() != 0 && ending.signal() != SIGKILL) {
    evidence_.add(ending.signal() == SIGBUS ? "sigbus" : "crashed",
                  name + " at its end: " + ending.text());
  }
  ended_.push_back(std::move(actor.process));
  if (!actor.died) actor.links.clear();
  actor.stopped = false;
  actor.paused = false;
  actor.running.reset();
}

std::vector<SidecarWatch::Holder> CellRunner::holders_of(const std::string& file) const {
  std::vector<SidecarWatch::Holder> holders;
  for (const auto& [name, actor] : actors_) {
    for (const auto& link : actor.links) {
      if (link.file != file || actor.inherited.contains(link.connection)) continue;
      const auto is_same = [&](const Link& before) {
        return before.serial == link.serial && before.file == file;
      };
      const bool kept = std::ranges::any_of(actor.links_before, is_same);
      holders.push_back({actor.pid, actor.died, kept, name});
    }
  }
  return holders;
}

void CellRunner::observe() {
  watch_.observe([this](const std::string& file) { return holders_of(file); }, evidence_);
  // Whoever died in this step is no holder in the next.
  for (auto& [name, actor] : actors_) {
    if (actor.died) actor.links.clear();
  }
}

// Whoever is still there closes what it has open and exits, in the order of the scenario.
void CellRunner::end_everybody() {
  for (const auto& name : order_) {
    auto& actor = actors_[name];
    if (!actor.process) continue;
    for (auto& [other, state] : actors_) state.links_before = state.links;
    if (actor.stopped) actor.process->send_signal(SIGCONT);
    actor.stopped = false;
    Step step;
    step.actor = name;
    if (actor.running) {
      perform_await(step, actor);
      if (!actor.process) continue;
    }
    if (actor.paused) {
      step.verb = "resume";
      perform_command(step, actor);
      if (!actor.process) continue;
    }
    step.verb = "end";
    perform_command(step, actor);
    observe();
  }
}

// After a failure. Parents first, so that none is asked about its children.
void CellRunner::kill_everybody() noexcept {
  for (auto& [name, actor] : actors_) {
    if (!actor.process) continue;
    actor.process->send_signal(SIGKILL);
    actor.process->send_signal(SIGCONT);
  }
  for (const bool children : {false, true}) {
    for (auto& [name, actor] : actors_) {
      if (!actor.process || actor.process->is_child() != children) continue;
      try {
        actor.process->wait();
      } catch (const std::exception&) {
        // Reported where it was first met.
      }
    }
  }
}

}  // namespace walguard::repro
