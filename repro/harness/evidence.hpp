// SPDX-License-Identifier: MIT
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace walguard::repro {

// One word of evidence that something was harmed, and what it says.
struct EvidenceWord {
  std::string_view word;
  std::string_view meaning;
};

// Every word that a scenario's `expect` line may use. Anything the oracles find has one of them.
[[nodiscard]] const std::vector<EvidenceWord>& evidence_words();
[[nodiscard]] bool is_evidence_word(std::string_view word);

// The word for an SQLite result code that a step got, "" for those that say no harm: OK, and a
// polite refusal (BUSY, LOCKED).
[[nodiscard]] std::string_view evidence_of_result(int sqlite_code);

// What was seen in one run of one cell. Not thread-safe.
class Evidence {
 public:
  void add(std::string_view word, std::string detail);
  void note(std::string text) { notes_.push_back(std::move(text)); }
  [[nodiscard]] const std::set<std::string>& words() const { return words_; }
  [[nodiscard]] const std::vector<std::string>& details() const { return details_; }
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  std::set<std::string> words_;
  std::vector<std::string> details_;
  std::vector<std::string> notes_;
};

}  // namespace walguard::repro
