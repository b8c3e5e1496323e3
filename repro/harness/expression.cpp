// SPDX-License-Identifier: MIT
#include "expression.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "text.hpp"

namespace walguard::repro {

enum class Kind {
  any_of,
  all_of,
  negation,
  equal,
  unequal,
  less,
  less_equal,
  greater,
  greater_equal
};

struct Expression::Node {
  Kind kind;
  std::vector<std::shared_ptr<const Node>> children;
  std::string name;
  std::vector<std::string> values;  // more than one only for `in`, which is Kind::equal
};

namespace {

using NodePtr = std::shared_ptr<const Expression::Node>;

bool is_version(std::string_view text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) != 0 &&
         std::ranges::all_of(text, [](char c) {
           return c == '.' || std::isdigit(static_cast<unsigned char>(c)) != 0;
         });
}

std::vector<int> version_parts(std::string_view text) {
  std::vector<int> parts;
  while (!text.empty()) {
    const auto piece = text.substr(0, text.find('.'));
    int number = 0;
    std::from_chars(piece.data(), piece.data() + piece.size(), number);
    parts.push_back(number);
    text.remove_prefix(std::min(piece.size() + 1, text.size()));
  }
  return parts;
}

bool is_version_prefix(std::string_view prefix, std::string_view version) {
  return version.starts_with(prefix) &&
         (version.size() == prefix.size() || version[prefix.size()] == '.');
}

class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) { advance(); }

  NodePtr parse() {
    auto root = parse_any();
    if (!token_.empty()) fail("'" + token_ + "' is not expected here");
    return root;
  }

 private:
  [[noreturn]] static void fail(const std::string& what) { throw std::invalid_argument(what); }

  void advance() {
    rest_ = trimmed(rest_);
    if (rest_.empty()) {
      token_.clear();
      return;
    }
    static constexpr std::string_view kOperatorChars = "<>=!";
    static constexpr std::string_view kSingles = "(),";
    std::size_t length = 1;
    if (kOperatorChars.find(rest_.front()) != std::string_view::npos) {
      length = rest_.find_first_not_of(kOperatorChars);
    } else if (kSingles.find(rest_.front()) == std::string_view::npos) {
      length = rest_.find_first_of("<>=!(), \t");
    }
    length = std::min(length, rest_.size());
    token_ = std::string(rest_.substr(0, length));
    rest_.remove_prefix(length);
  }

  bool accept(std::string_view token) {
    if (token_ != token) return false;
    advance();
    return true;
  }

  std::string take_operand(const char* what) {
    if (token_.empty() || std::string_view("<>=!(),").find(token_.front()) != std::string::npos) {
      fail(std::string(what) + " is missing" + (token_.empty() ? "" : " before '" + token_ + "'"));
    }
    auto word = token_;
    advance();
    return word;
  }

  NodePtr parse_any() { return parse_chain("or", Kind::any_of, &Parser::parse_all); }
  NodePtr parse_all() { return parse_chain("and", Kind::all_of, &Parser::parse_unary); }

  NodePtr parse_chain(std::string_view word, Kind kind, NodePtr (Parser::*part)()) {
    std::vector<NodePtr> children{(this->*part)()};
    while (accept(word)) children.push_back((this->*part)());
    if (children.size() == 1) return children.front();
    return std::make_shared<Expression::Node>(Expression::Node{kind, std::move(children), {}, {}});
  }

  NodePtr parse_unary() {
    if (accept("not")) {
      return std::make_shared<Expression::Node>(
          Expression::Node{Kind::negation, {parse_unary()}, {}, {}});
    }
    if (accept("(")) {
      auto inner = parse_any();
      if (!accept(")")) fail("')' is missing");
      return inner;
    }
    return parse_comparison();
  }

  NodePtr parse_comparison() {
    Expression::Node node{Kind::equal, {}, take_operand("a name"), {}};
    if (accept("in")) {
      do node.values.push_back(take_operand("a value"));
      while (accept(","));
      return std::make_shared<Expression::Node>(std::move(node));
    }
    static constexpr std::pair<std::string_view, Kind> kOperators[] = {
        {"==", Kind::equal},      {"!=", Kind::unequal}, {"<", Kind::less},
        {"<=", Kind::less_equal}, {">", Kind::greater},  {">=", Kind::greater_equal}};
    const auto* found = std::ranges::find(kOperators, std::string_view(token_),
                                          &std::pair<std::string_view, Kind>::first);
    if (found == std::end(kOperators)) {
      fail("after '" + node.name + "' one of == != < <= > >= in is expected" +
           (token_.empty() ? "" : ", not '" + token_ + "'"));
    }
    node.kind = found->second;
    advance();
    node.values.push_back(take_operand("a value"));
    return std::make_shared<Expression::Node>(std::move(node));
  }

  std::string_view rest_;
  std::string token_;
};

bool equals(const Operand& operand, const std::string& value) {
  if (operand.word == value) return true;
  return is_version(value) && is_version_prefix(value, operand.version);
}

int order(const Operand& operand, const std::string& name, const std::string& value) {
  const auto& left = operand.version.empty() ? operand.word : operand.version;
  if (!is_version(left) || !is_version(value)) {
    throw std::invalid_argument("'" + name + "' has no order: use == or in");
  }
  return compare_versions(left, value);
}

bool evaluate(const Expression::Node& node, const Lookup& lookup) {
  const auto child_holds = [&](const NodePtr& child) { return evaluate(*child, lookup); };
  if (node.kind == Kind::any_of) return std::ranges::any_of(node.children, child_holds);
  if (node.kind == Kind::all_of) return std::ranges::all_of(node.children, child_holds);
  if (node.kind == Kind::negation) return !child_holds(node.children.front());
  const auto operand = lookup(node.name);
  if (!operand) throw std::invalid_argument("'" + node.name + "' is no variable of this case");
  const auto is_value = [&](const std::string& value) { return equals(*operand, value); };
  if (node.kind == Kind::equal) return std::ranges::any_of(node.values, is_value);
  if (node.kind == Kind::unequal) return !is_value(node.values.front());
  const int relation = order(*operand, node.name, node.values.front());
  if (node.kind == Kind::less) return relation < 0;
  if (node.kind == Kind::less_equal) return relation <= 0;
  if (node.kind == Kind::greater) return relation > 0;
  return relation >= 0;
}

void collect_names(const Expression::Node& node, std::vector<std::string>& names) {
  if (!node.name.empty()) names.push_back(node.name);
  for (const auto& child : node.children) collect_names(*child, names);
}

}  // namespace

int compare_versions(std::string_view left, std::string_view right) {
  auto a = version_parts(left);
  auto b = version_parts(right);
  const auto length = std::max(a.size(), b.size());
  a.resize(length);
  b.resize(length);
  if (a == b) return 0;
  return a < b ? -1 : 1;
}

Expression Expression::parse(std::string_view text) {
  return {Parser(text).parse(), std::string(trimmed(text))};
}

bool Expression::holds(const Lookup& lookup) const { return evaluate(*root_, lookup); }

std::vector<std::string> Expression::names() const {
  std::vector<std::string> names;
  collect_names(*root_, names);
  return names;
}

}  // namespace walguard::repro
