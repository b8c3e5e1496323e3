// SPDX-License-Identifier: MIT
#include <algorithm>

#include "arm.hpp"

namespace walguard::repro {

namespace {

// The program as it is: what the faults do when nothing stops them.
class Bare final : public Arm {
 public:
  [[nodiscard]] std::string_view name() const override { return "bare"; }
  [[nodiscard]] std::string_view summary() const override { return "no protection: the control"; }
  void prepare(Launch&) const override {}
};

// The program calls WalGuard::hold() after opening and releases before closing.
class Guard final : public Arm {
 public:
  [[nodiscard]] std::string_view name() const override { return "guard"; }
  [[nodiscard]] std::string_view summary() const override {
    return "WalGuard, descriptors where the library puts them by itself";
  }
  void prepare(Launch& launch) const override { launch.protection = "guard"; }
};

class GuardInProcess final : public Arm {
 public:
  [[nodiscard]] std::string_view name() const override { return "guard-process"; }
  [[nodiscard]] std::string_view summary() const override {
    return "WalGuard, descriptors in the process's own table (not run by default)";
  }
  [[nodiscard]] std::string_view expects_as() const override { return "guard"; }
  [[nodiscard]] bool runs_by_default() const override { return false; }
  void prepare(Launch& launch) const override {
    launch.protection = "guard";
    launch.environment.emplace_back("WALGUARD_DESCRIPTORS", "process");
  }
};

// Says that it guards and holds nothing: the harness must find it out.
class GuardSabotaged final : public Arm {
 public:
  [[nodiscard]] std::string_view name() const override { return "guard-sabotaged"; }
  [[nodiscard]] std::string_view summary() const override { return "a guard that never holds"; }
  [[nodiscard]] std::string_view expects_as() const override { return "guard"; }
  [[nodiscard]] bool runs_by_default() const override { return false; }
  [[nodiscard]] bool listed() const override { return false; }
  void prepare(Launch& launch) const override { launch.protection = "sabotaged"; }
};

}  // namespace

const std::vector<const Arm*>& all_arms() {
  static const Bare bare;
  static const Guard guard;
  static const GuardInProcess guard_in_process;
  static const GuardSabotaged guard_sabotaged;
  static const std::vector<const Arm*> arms = {&bare, &guard, &guard_in_process, &guard_sabotaged};
  return arms;
}

const Arm* find_arm(std::string_view name) {
  const auto found = std::ranges::find(all_arms(), name, &Arm::name);
  return found == all_arms().end() ? nullptr : *found;
}

std::vector<std::string> arm_names() {
  std::vector<std::string> names;
  for (const auto* arm : all_arms()) {
    if (arm->listed()) names.emplace_back(arm->name());
  }
  return names;
}

}  // namespace walguard::repro
