// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

#include "paired.hpp"
#include "subjects.hpp"

namespace bench {

struct Plan {
  const Directory& directory;
  bool quick;  // few pairs: shows that the program runs, says nothing about speed
  std::function<void(Figure)> report;

  [[nodiscard]] std::size_t pairs(std::size_t wanted) const { return quick ? 3 : wanted; }
};

void many_databases(const Plan& plan);  // first: it looks at the resident memory
void holds(const Plan& plan);
void refreshes(const Plan& plan);
void transactions(const Plan& plan);

}  // namespace bench
