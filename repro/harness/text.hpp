// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace walguard::repro {

[[nodiscard]] std::string_view trimmed(std::string_view text);

// The pieces between the commas, trimmed; empty pieces are kept so that the caller can complain.
[[nodiscard]] std::vector<std::string> split_list(std::string_view text);

// The words of a line, separated by blanks.
[[nodiscard]] std::vector<std::string> split_words(std::string_view text);

// Cuts the first word off `text`, which keeps the trimmed rest.
[[nodiscard]] std::string take_word(std::string_view& text);

[[nodiscard]] std::string join(const std::vector<std::string>& parts, std::string_view separator);

// A name of an actor, a variable, an arm: a letter, then letters, digits, '_' or '-'.
[[nodiscard]] bool is_name(std::string_view text);

}  // namespace walguard::repro
