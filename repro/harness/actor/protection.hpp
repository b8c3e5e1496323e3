// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "connection.hpp"

namespace walguard::repro {

// What a protected program calls around its use of SQLite: one class an arm that needs something
// called inside the process. A call returns what the program was told, "" for nothing. Words of
// evidence are collected apart. Bound to the actor's one thread.
class Protection {
 public:
  virtual ~Protection() = default;
  virtual void after_open(const Connection&) {}
  virtual void after_attach(const Connection&, const std::string& /*schema*/) {}
  virtual void before_detach(const Connection&, const std::string& /*schema*/) {}
  virtual void before_close(const Connection&) {}
  // After everything of a connection is closed.
  virtual void after_close() {}

  // Steps that a scenario may ask for by name.
  virtual void hold(const Connection&, const std::string& /*name*/, const std::string& /*schema*/) {
  }
  virtual void release(const std::string& /*name*/) {}
  virtual void refresh(const std::string& /*connection*/) {}
  virtual void pause(const std::string& /*connection*/) {}
  virtual void unpause(const std::string& /*connection*/) {}

  [[nodiscard]] std::vector<std::string> take_notes() { return std::exchange(notes_, {}); }
  [[nodiscard]] std::vector<std::string> take_evidence() { return std::exchange(evidence_, {}); }

 protected:
  std::vector<std::string> notes_;
  std::vector<std::string> evidence_;
};

// `name` is what an arm put into Launch::protection: none, guard, sabotaged. Throws
// std::runtime_error for another.
[[nodiscard]] std::unique_ptr<Protection> make_protection(std::string_view name);

}  // namespace walguard::repro
