// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "arm.hpp"
#include "evidence.hpp"
#include "ledger.hpp"
#include "matrix.hpp"
#include "process.hpp"
#include "scenario.hpp"
#include "sidecars.hpp"

namespace walguard::repro {

// The programs that actors are made of.
struct Programs {
  std::string actor;       // linked with the system's SQLite
  std::string actor_next;  // with the newer one, "" when it was not built
  std::string shell = "sqlite3";
};

// Runs one cell under one arm once, in a directory of its own. Deterministic: one step after the
// other, each ends before the next begins. Bound to one thread.
class CellRunner {
 public:
  CellRunner(const Scenario& scenario, const Cell& cell, const Arm& arm, const Programs& programs,
             std::filesystem::path directory);
  ~CellRunner();
  CellRunner(const CellRunner&) = delete;
  CellRunner& operator=(const CellRunner&) = delete;

  // Throws HarnessError, ScenarioError.
  Evidence run();

 private:
  struct Link {
    std::string connection;
    std::string file;
    std::string transaction;
    int serial = 0;  // another one after a reopen
    friend auto operator<=>(const Link&, const Link&) = default;
  };
  struct Actor {
    std::unique_ptr<ActorProcess> process;  // nullptr: not running
    pid_t pid = 0;
    bool ours = false;
    bool stopped = false;
    bool paused = false;              // inside exec-until
    std::optional<Step> running;      // a step that was started and not awaited
    bool died = false;                // of a signal that no step sent: it takes no more steps
    std::set<std::string> inherited;  // connections that a fork carried over
    std::vector<Link> links;          // its open connections, by database
    std::vector<Link> links_before;   // the same before this step
  };

  void perform(const Step& step);
  void perform_outside(const Step& step);
  void perform_signal(const Step& step, Actor& actor);
  void perform_shell(const Step& step);
  void perform_command(const Step& step, Actor& actor);
  void start(const std::string& name, Actor& actor);
  void adopt_child(const Step& step, Actor& parent, pid_t pid);
  void perform_await(const Step& step, Actor& actor);
  void take_answer(const Step& step, Actor& actor, const nlohmann::json& answer);
  void bury(const std::string& name, Actor& actor, bool expected);
  void end_everybody();
  void observe();
  void look_for_missed_locks(const Step& step, bool wrote_to_test_db,
                             const nlohmann::json& acknowledged, bool checkpointed);
  [[nodiscard]] std::vector<SidecarWatch::Holder> holders_of(const std::string& file) const;
  [[nodiscard]] std::string place(const Step& step) const;
  void kill_everybody() noexcept;

  const Scenario& scenario_;
  const Cell& cell_;
  const Arm& arm_;
  const Programs& programs_;
  std::filesystem::path directory_;
  std::vector<std::string> order_;  // of appearance
  std::map<std::string, Actor> actors_;
  std::vector<std::unique_ptr<ActorProcess>> ended_;  // children may still refer to them
  SidecarWatch watch_;
  Ledger ledger_;
  Evidence evidence_;
};

}  // namespace walguard::repro
