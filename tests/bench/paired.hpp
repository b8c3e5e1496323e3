// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace bench {

// A median with its 95 % interval, by order statistics: no assumption about the distribution.
struct Interval {
  double low = 0;
  double median = 0;
  double high = 0;
  std::size_t samples = 0;
};
[[nodiscard]] Interval median_of(std::vector<double> samples);

// One of the two things that are compared. `prepare` is not timed.
struct Side {
  std::function<void()> prepare;
  std::function<void()> run;
  std::size_t operations = 1;  // in one run
};

struct Comparison {
  Interval ratio;  // of the seconds for one operation, first side / second side, pair by pair
  double first_us = 0;
  double second_us = 0;
};

// Runs the sides in turn, `pairs` times, beginning with the one and with the other alternately.
// A first pair warms up and is not counted.
[[nodiscard]] Comparison compare(const Side& first, const Side& second, std::size_t pairs);

// How a figure is held against its bar. A bar holds only where the whole 95 % interval of the
// median lies on its good side: for a cost the upper bound is the one that counts, for a rate the
// lower one.
enum class Rule {
  at_most,   // cost, ours / floor: upper bound <= bar
  at_least,  // rate, guarded / bare: lower bound >= bar
  within,    // 1 - bar <= lower bound and upper bound <= 1 + bar
  count,     // a number without noise: value <= bar
  none,      // told for information
};

struct Figure {
  std::string name;
  Rule rule = Rule::none;
  double bar = 0;
  Interval value;
  double ours_us = 0;
  double floor_us = 0;
  std::string note;

  [[nodiscard]] bool met() const;
};

[[nodiscard]] Figure figure_of(std::string name, Rule rule, double bar, const Comparison& seen,
                               std::string note = {});
[[nodiscard]] Figure count_of(std::string name, double value, double bar, std::string note = {});

[[nodiscard]] std::string table_line(const Figure& figure);
[[nodiscard]] std::string table_head();
[[nodiscard]] std::string json_of(const std::vector<Figure>& figures, bool quick);

}  // namespace bench
