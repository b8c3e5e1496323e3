// SPDX-License-Identifier: MIT
#include "text.hpp"

#include <algorithm>
#include <cctype>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/join.hpp>

namespace walguard::repro {

namespace {

constexpr std::string_view kBlanks = " \t\r";

bool is_alpha(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

bool is_name_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  const auto last = text.find_last_not_of(kBlanks);
  return text.substr(first, last - first + 1);
}

std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> parts;
  while (true) {
    const auto comma = text.find(',');
    parts.emplace_back(trimmed(text.substr(0, comma)));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  while (!trimmed(text).empty()) words.push_back(take_word(text));
  return words;
}

std::string take_word(std::string_view& text) {
  text = trimmed(text);
  const auto end = std::min(text.find_first_of(kBlanks), text.size());
  std::string word(text.substr(0, end));
  text = trimmed(text.substr(end));
  return word;
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  return parts | ranges::views::join(separator) | ranges::to<std::string>();
}

bool is_name(std::string_view text) {
  return !text.empty() && is_alpha(text.front()) && std::ranges::all_of(text, is_name_char);
}

}  // namespace walguard::repro
