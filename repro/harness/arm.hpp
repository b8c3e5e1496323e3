// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace walguard::repro {

// How one actor program is started. An arm may change all of it for the actors that are ours.
struct Launch {
  std::string program;
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;  // in addition to the harness's own
  std::string protection = "none";  // what the actor program itself does: see actor/protection.hpp
};

// One way to protect the program, as a plug-in: what it changes about the start of an actor. What
// has to be called inside the program is a Protection of the actor (actor/protection.hpp). A new
// arm is one class here, and one there if the program has to call something. Immutable.
class Arm {
 public:
  virtual ~Arm() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual std::string_view summary() const = 0;
  // Whose `expect` lines count where a scenario has none for this arm: that of which it is a
  // variant.
  [[nodiscard]] virtual std::string_view expects_as() const { return name(); }
  [[nodiscard]] virtual bool runs_by_default() const { return true; }
  [[nodiscard]] virtual bool listed() const { return true; }
  virtual void prepare(Launch& launch) const = 0;
};

// nullptr when there is none of that name.
[[nodiscard]] const Arm* find_arm(std::string_view name);
[[nodiscard]] const std::vector<const Arm*>& all_arms();
[[nodiscard]] std::vector<std::string> arm_names();  // those that are listed

}  // namespace walguard::repro
