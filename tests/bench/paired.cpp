// SPDX-License-Identifier: MIT
#include "paired.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

namespace bench {
namespace {

double seconds_of(const Side& side) {
  if (side.prepare) side.prepare();
  const auto begin = std::chrono::steady_clock::now();
  side.run();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  return took.count() / static_cast<double>(side.operations);
}

// The largest k for which fewer than k of n samples lie below the median with a probability of at
// most 2.5 %: [x(k), x(n + 1 - k)] covers the median with at least 95 %.
std::size_t rank_of_bound(std::size_t n) {
  double probability = std::pow(0.5, static_cast<double>(n));
  double below = 0;
  std::size_t k = 0;
  while (k < n / 2) {
    below += probability;
    if (below > 0.025) break;
    probability *= static_cast<double>(n - k) / static_cast<double>(k + 1);
    ++k;
  }
  return std::max<std::size_t>(k, 1);
}

const char* rule_name(Rule rule) {
  switch (rule) {
    case Rule::at_most: return "at_most";
    case Rule::at_least: return "at_least";
    case Rule::within: return "within";
    case Rule::count: return "count";
    case Rule::none: return "none";
  }
  return "";
}

template <class... Arguments>
std::string text(const char* format, Arguments... arguments) {
  char buffer[512];
  std::snprintf(buffer, sizeof buffer, format, arguments...);
  return buffer;
}

std::string escaped(const std::string& raw) {
  std::string out;
  for (const char c : raw) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string bar_text(const Figure& figure) {
  switch (figure.rule) {
    case Rule::at_most:
    case Rule::count: return text("<= %g", figure.bar);
    case Rule::at_least: return text(">= %g", figure.bar);
    case Rule::within: return text("1 +- %g", figure.bar);
    case Rule::none: return "-";
  }
  return {};
}

}  // namespace

Interval median_of(std::vector<double> samples) {
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end());
  const std::size_t n = samples.size();
  const std::size_t k = rank_of_bound(n);
  const double median = n % 2 == 1 ? samples[n / 2] : (samples[n / 2 - 1] + samples[n / 2]) / 2;
  return {samples[k - 1], median, samples[n - k], n};
}

Comparison compare(const Side& first, const Side& second, std::size_t pairs) {
  std::vector<double> ratios;
  std::vector<double> firsts;
  std::vector<double> seconds;
  for (std::size_t pair = 0; pair <= pairs; ++pair) {
    double one = 0;
    double other = 0;
    if (pair % 2 == 0) {
      one = seconds_of(first);
      other = seconds_of(second);
    } else {
      other = seconds_of(second);
      one = seconds_of(first);
    }
    if (pair == 0) continue;
    ratios.push_back(one / other);
    firsts.push_back(one);
    seconds.push_back(other);
  }
  return {median_of(ratios), median_of(firsts).median * 1e6, median_of(seconds).median * 1e6};
}

bool Figure::met() const {
  switch (rule) {
    case Rule::at_most: return value.high <= bar;
    case Rule::at_least: return value.low >= bar;
    case Rule::within: return value.low >= 1 - bar && value.high <= 1 + bar;
    case Rule::count: return value.median <= bar;
    case Rule::none: return true;
  }
  return false;
}

Figure figure_of(std::string name, Rule rule, double bar, const Comparison& seen,
                 std::string note) {
  return {std::move(name), rule, bar, seen.ratio, seen.first_us, seen.second_us, std::move(note)};
}

Figure count_of(std::string name, double value, double bar, std::string note) {
  return {std::move(name), Rule::count, bar, {value, value, value, 1}, 0, 0, std::move(note)};
}

std::string table_head() {
  return text("%-50s %9s  %-19s %9s %5s %6s %9s %9s\n", "", "median", "95 % interval", "bar", "met",
              "pairs", "ours us", "floor us");
}

std::string table_line(const Figure& figure) {
  const std::string interval = text("[%.3f, %.3f]", figure.value.low, figure.value.high);
  std::string line = text("%-50s %9.3f  %-19s %9s %5s %6zu %9.2f %9.2f\n", figure.name.c_str(),
                          figure.value.median, interval.c_str(), bar_text(figure).c_str(),
                          figure.rule == Rule::none ? "-"
                          : figure.met()            ? "yes"
                                                    : "NO",
                          figure.value.samples, figure.ours_us, figure.floor_us);
  if (!figure.note.empty()) line += "    " + figure.note + "\n";
  return line;
}

std::string json_of(const std::vector<Figure>& figures, bool quick) {
  std::string out = "{\"schema\": \"walguard.bench/1\", \"quick\": ";
  out += quick ? "true" : "false";
  out += ", \"figures\": [";
  const char* separator = "\n";
  for (const Figure& figure : figures) {
    out += separator;
    separator = ",\n";
    out += "  {\"name\": \"" + escaped(figure.name) + "\", ";
    out += text("\"median\": %.6g, \"low\": %.6g, \"high\": %.6g, \"samples\": %zu, ",
                figure.value.median, figure.value.low, figure.value.high, figure.value.samples);
    out += text("\"ours_us\": %.6g, \"floor_us\": %.6g, \"rule\": \"%s\", ", figure.ours_us,
                figure.floor_us, rule_name(figure.rule));
    if (figure.rule != Rule::none) {
      out += text("\"bar\": %g, \"met\": %s, ", figure.bar, figure.met() ? "true" : "false");
    }
    out += "\"note\": \"" + escaped(figure.note) + "\"}";
  }
  return out + "\n]}\n";
}

}  // namespace bench
