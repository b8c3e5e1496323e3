// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace walguard::repro {

// What a step may say. Actors understand the `actor` verbs; the pseudo-actor `outside` is the
// harness itself.
struct Verb {
  std::string_view name;
  bool outside;
  int least_words;  // how many words at least follow the verb
  std::string_view usage;
  std::string_view meaning;  // "" where the name says it all
};

inline constexpr std::string_view kOutside = "outside";

[[nodiscard]] const std::vector<Verb>& verbs();

// "" when `verb words` is well formed, else a sentence about what is wrong.
[[nodiscard]] std::string complaint_about_step(bool outside, std::string_view verb,
                                               std::string_view words);

}  // namespace walguard::repro
