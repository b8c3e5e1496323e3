// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace walguard::repro {

// What a name in an expression stands for. A variable has only its word; `ACTOR.sqlite` has the
// word of the actor's line ("system") and the version that it turned out to be ("3.40.1").
struct Operand {
  std::string word;
  std::string version;
};

using Lookup = std::function<std::optional<Operand>(std::string_view name)>;

// Less than, equal, greater: -1, 0, 1. "3.5" < "3.40", "3.53" == "3.53.0".
[[nodiscard]] int compare_versions(std::string_view left, std::string_view right);

// A condition over the variables of a cell:
//   visitor.sqlite < 3.51 and not (stray in none, wal or by == dup)
// `==` on a version is true for a prefix too: 3.53.2 == 3.53. Immutable, cheap to copy.
class Expression {
 public:
  struct Node;

  // Throws std::invalid_argument with a sentence about the text.
  [[nodiscard]] static Expression parse(std::string_view text);

  // Throws std::invalid_argument when `lookup` does not know a name, or an order is asked of words.
  [[nodiscard]] bool holds(const Lookup& lookup) const;
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  Expression(std::shared_ptr<const Node> root, std::string text)
      : root_(std::move(root)), text_(std::move(text)) {}

  std::shared_ptr<const Node> root_;
  std::string text_;
};

}  // namespace walguard::repro
