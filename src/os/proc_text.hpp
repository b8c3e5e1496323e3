// SPDX-License-Identifier: MIT
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

// Pieces for parsing the lines of /proc. A failed take_*() leaves its text where it was or further
// on: the caller gives up on the line.
namespace walguard::os {

inline bool take_char(std::string_view& text, char wanted) noexcept {
  if (text.empty() || text.front() != wanted) return false;
  text.remove_prefix(1);
  return true;
}

// A number without a plus sign, prefix or leading blank, which must fit into `out`.
template <std::integral Number>
bool take_number(std::string_view& text, Number& out, int base) noexcept {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, base);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

inline void skip_blanks(std::string_view& text) noexcept {
  const std::size_t begin = text.find_first_not_of(" \t");
  text.remove_prefix(begin == std::string_view::npos ? text.size() : begin);
}

// The next word of a text whose columns are padded with blanks; empty at its end.
inline std::string_view take_word(std::string_view& text) noexcept {
  skip_blanks(text);
  const std::string_view word = text.substr(0, text.find_first_of(" \t"));
  text.remove_prefix(word.size());
  return word;
}

// The next field of a text with exactly one space between fields, where a field may be empty.
// False when no space follows: the last field is what remains.
inline bool take_field(std::string_view& text, std::string_view& field) noexcept {
  const std::size_t space = text.find(' ');
  if (space == std::string_view::npos) return false;
  field = text.substr(0, space);
  text.remove_prefix(space + 1);
  return true;
}

// The numbers as Linux puts them into a dev_t, whose macros other systems lack or mean otherwise.
constexpr std::uint64_t linux_device(std::uint32_t major, std::uint32_t minor) noexcept {
  const std::uint64_t high = major;
  const std::uint64_t low = minor;
  return (high & ~0xfffULL) << 32 | (high & 0xfff) << 8 | (low & ~0xffULL) << 12 | (low & 0xff);
}

// Undoes the kernel's mangle(): a backslash and three octal digits are one byte. Anything else
// stays as it is.
inline std::string unescape_octal(std::string_view text) {
  const auto digit = [&text](std::size_t at, char last) {
    return text[at] >= '0' && text[at] <= last;
  };
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && text.size() - i > 3 && digit(i + 1, '3') && digit(i + 2, '7') &&
        digit(i + 3, '7')) {
      const int byte = (text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0');
      out.push_back(static_cast<char>(byte));
      i += 3;
    } else {
      out.push_back(text[i]);
    }
  }
  return out;
}

}  // namespace walguard::os
