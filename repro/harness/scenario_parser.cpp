// SPDX-License-Identifier: MIT
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "arm.hpp"
#include "evidence.hpp"
#include "scenario.hpp"
#include "text.hpp"
#include "verbs.hpp"

namespace walguard::repro {

namespace {

constexpr int kMostRepeats = 10'000;

struct Line {
  int number;
  std::string text;
};

// A comment begins with '#' at the start of a line or after a blank.
std::string_view without_comment(std::string_view line) {
  for (std::size_t at = line.find('#'); at != std::string_view::npos; at = line.find('#', at + 1)) {
    if (at == 0 || line[at - 1] == ' ' || line[at - 1] == '\t') return line.substr(0, at);
  }
  return line;
}

std::string replaced(std::string text, std::string_view from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    text.replace(at, from.size(), to);
    at += to.size();
  }
  return text;
}

class Parser {
 public:
  Parser(std::string file, std::string_view text) {
    scenario_.file = std::move(file);
    scenario_.name = std::filesystem::path(scenario_.file).stem().string();
    int number = 0;
    while (!text.empty()) {
      const auto end = std::min(text.find('\n'), text.size());
      const auto line = trimmed(without_comment(text.substr(0, end)));
      if (++number; !line.empty()) lines_.push_back({number, std::string(line)});
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

  Scenario parse() {
    std::size_t at = 0;
    parse_block(at, {}, "");
    if (at < lines_.size()) fail(lines_[at].number, "'end' without 'repeat' or 'if'");
    finish();
    return std::move(scenario_);
  }

 private:
  [[noreturn]] void fail(int line, const std::string& what) const {
    throw ScenarioError(scenario_.file, line, what);
  }

  Expression expression(int line, std::string_view text) const {
    try {
      return Expression::parse(text);
    } catch (const std::invalid_argument& error) {
      fail(line, "in the condition '" + std::string(trimmed(text)) + "': " + error.what());
    }
  }

  // Parses lines until the `end` that closes this block, which `at` is left on. `round` replaces
  // $i; it is empty outside `repeat`.
  void parse_block(std::size_t& at, const std::vector<Expression>& conditions,
                   const std::string& round) {
    for (; at < lines_.size() && lines_[at].text != "end"; ++at) {
      const auto line = lines_[at];
      std::string_view rest = line.text;
      const auto word = take_word(rest);
      const bool nested = !conditions.empty() || !round.empty();
      if (word == "repeat") {
        parse_repeat(at, rest, conditions);
      } else if (word == "if") {
        parse_if(at, rest, conditions, round);
      } else if (!parse_declaration(line.number, word, rest, nested)) {
        parse_step(line.number, line.text, conditions, round);
      }
    }
  }

  void expect_end(std::size_t at, int line) const {
    if (at >= lines_.size()) fail(line, "this block has no 'end'");
  }

  void parse_repeat(std::size_t& at, std::string_view rest,
                    const std::vector<Expression>& conditions) {
    const int line = lines_[at].number;
    int count = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), count);
    if (error != std::errc{} || end != rest.data() + rest.size() || count < 1 ||
        count > kMostRepeats) {
      fail(line, "usage: repeat COUNT (1 to " + std::to_string(kMostRepeats) + ")");
    }
    const auto first = ++at;
    for (int i = 1; i <= count; ++i) {
      at = first;
      parse_block(at, conditions, std::to_string(i));
      expect_end(at, line);
    }
  }

  void parse_if(std::size_t& at, std::string_view rest, std::vector<Expression> conditions,
                const std::string& round) {
    const int line = lines_[at].number;
    const auto colon = rest.find(':');
    conditions.push_back(expression(line, rest.substr(0, colon)));
    if (colon != std::string_view::npos) {
      parse_step(line, rest.substr(colon + 1), conditions, round);
      return;
    }
    ++at;
    parse_block(at, conditions, round);
    expect_end(at, line);
  }

  bool parse_declaration(int line, const std::string& word, std::string_view rest, bool nested) {
    static constexpr std::string_view kWords[] = {"title", "control", "actor",
                                                  "vary",  "omit",    "expect"};
    if (std::ranges::find(kWords, word) == std::end(kWords)) return false;
    if (nested) fail(line, "'" + word + "' cannot stand inside 'repeat' or 'if'");
    if (word == "title") {
      parse_text(line, rest, scenario_.title, "title");
    } else if (word == "control") {
      parse_text(line, rest, scenario_.control, "control");
    } else if (word == "actor") {
      parse_actor(line, rest);
    } else if (word == "vary") {
      parse_variable(line, rest);
    } else if (word == "omit") {
      if (take_word(rest) != "when") fail(line, "usage: omit when CONDITION");
      scenario_.omitted.push_back(expression(line, rest));
    } else {
      parse_expectation(line, rest);
    }
    return true;
  }

  void parse_text(int line, std::string_view rest, std::string& into, const char* what) const {
    if (!into.empty()) fail(line, std::string("a second '") + what + "'");
    if (rest.empty()) fail(line, std::string("usage: ") + what + " TEXT");
    into = rest;
  }

  void declare(int line, const std::string& name) {
    if (!is_name(name) || name == kOutside) fail(line, "'" + name + "' cannot name an actor");
    if (!names_.insert(name).second) fail(line, "'" + name + "' is declared twice");
  }

  void parse_actor(int line, std::string_view rest) {
    ActorDeclaration actor{take_word(rest), {"system"}, false, line};
    declare(line, actor.name);
    // The program to protect is called `app` in most scenarios; others say it.
    actor.ours = actor.name == "app";
    for (const auto& word : split_words(rest)) {
      if (word == "ours") {
        actor.ours = true;
      } else if (word.starts_with("sqlite=")) {
        actor.sqlite = split_list(std::string_view(word).substr(7));
      } else {
        fail(line, "usage: actor NAME [ours] [sqlite=VERSION,...]");
      }
    }
    const auto is_known = [](const std::string& version) {
      return version == "system" || (!version.empty() && std::isdigit(version.front()) != 0);
    };
    if (!std::ranges::all_of(actor.sqlite, is_known)) {
      fail(line, "sqlite= takes 'system' or a version such as 3.53, separated by commas");
    }
    scenario_.actors.push_back(std::move(actor));
  }

  void parse_variable(int line, std::string_view rest) {
    Variable variable{take_word(rest), split_list(rest), line};
    const auto known = [&](const Variable& other) { return other.name == variable.name; };
    if (!is_name(variable.name) || variable.name == "i") {
      fail(line, "usage: vary NAME VALUE,VALUE,...");
    }
    if (std::ranges::any_of(scenario_.variables, known)) {
      fail(line, "'" + variable.name + "' varies twice");
    }
    if (std::ranges::any_of(variable.values, &std::string::empty)) {
      fail(line, "a value of '" + variable.name + "' is empty");
    }
    scenario_.variables.push_back(std::move(variable));
  }

  void parse_expectation(int line, std::string_view rest) {
    Expectation expected;
    expected.line = line;
    expected.arm = take_word(rest);
    if (find_arm(expected.arm) == nullptr) {
      fail(line, "no arm is called '" + expected.arm + "'; known: " + join(arm_names(), " "));
    }
    const auto condition = (" " + std::string(rest)).find(" when ");
    auto what = std::string(trimmed(rest.substr(0, std::min(condition, rest.size()))));
    if (condition < rest.size()) {
      expected.when = expression(line, rest.substr(condition + std::size(" when ") - 2));
    }
    std::ranges::replace(what, ',', ' ');
    bool outcome_said = false;
    for (const auto& word : split_words(what)) {
      if (word == "held" || word == "harmed" || word == "not_covered") {
        if (outcome_said) fail(line, "'" + word + "' after another outcome");
        outcome_said = true;
        expected.outcome = word == "held"     ? Outcome::held
                           : word == "harmed" ? Outcome::harmed
                                              : Outcome::not_covered;
      } else if (is_evidence_word(word)) {
        expected.evidence.insert(word);
      } else {
        fail(line, "'" + word + "' is no outcome (held, harmed, not_covered) and no evidence");
      }
    }
    if (!outcome_said && expected.evidence.empty()) {
      fail(line, "usage: expect ARM held|harmed|not_covered|EVIDENCE,... [when CONDITION]");
    }
    if (!outcome_said) expected.outcome = Outcome::harmed;
    if (expected.outcome == Outcome::held && !expected.evidence.empty()) {
      fail(line, "'held' has no evidence");
    }
    if (expected.outcome == Outcome::not_covered && expected.arm == "bare") {
      fail(line, "bare protects nothing, so nothing is 'not_covered' there: say 'harmed'");
    }
    scenario_.expectations.push_back(std::move(expected));
  }

  void parse_step(int line, std::string_view text, const std::vector<Expression>& conditions,
                  const std::string& round) {
    Step step;
    step.line = line;
    step.actor = take_word(text);
    step.verb = take_word(text);
    step.conditions = conditions;
    if (step.verb == "must") {
      step.must = true;
      step.verb = take_word(text);
    }
    step.words = round.empty() ? std::string(text) : replaced(std::string(text), "$i", round);
    const bool outside = step.actor == kOutside;
    if (!outside && !names_.contains(step.actor)) {
      fail(line, "'" + step.actor + "' is no keyword and no actor");
    }
    if (step.verb.empty()) fail(line, "usage: ACTOR STEP ...");
    const auto complaint = complaint_about_step(outside, step.verb, step.words);
    if (!complaint.empty()) fail(line, complaint);
    // A forked or spawned child acts under the name that the step gives it.
    if (step.verb == "fork" || step.verb == "spawn") {
      if (names_.contains(step.words) && children_.contains(step.words)) {
        // Inside `repeat`, or after the first child has gone.
      } else {
        declare(line, step.words);
        children_.insert(step.words);
      }
    }
    scenario_.steps.push_back(std::move(step));
  }

  void finish() const {
    if (scenario_.title.empty()) fail(1, "no 'title'");
    if (scenario_.actors.empty()) fail(1, "no 'actor'");
    if (scenario_.steps.empty()) fail(1, "no steps");
    if (!scenario_.expects_arm("bare")) fail(1, "no 'expect bare ...'");
    for (const auto& step : scenario_.steps) {
      for (const auto& condition : step.conditions) check_names(step.line, condition);
      check_variables(step);
    }
    for (const auto& condition : scenario_.omitted) check_names(1, condition);
    for (const auto& expected : scenario_.expectations) {
      if (expected.when) check_names(expected.line, *expected.when);
    }
  }

  bool is_variable(std::string_view name) const {
    return std::ranges::find(scenario_.variables, name, &Variable::name) !=
           scenario_.variables.end();
  }

  void check_names(int line, const Expression& condition) const {
    for (const auto& name : condition.names()) {
      const bool is_sqlite = name.ends_with(".sqlite");
      const auto actor = is_sqlite ? name.substr(0, name.size() - 7) : std::string();
      const bool known_actor = std::ranges::find(scenario_.actors, actor,
                                                 &ActorDeclaration::name) != scenario_.actors.end();
      if (is_sqlite ? !known_actor : !is_variable(name)) {
        fail(line, "'" + name + "' in a condition is no variable and no ACTOR.sqlite");
      }
    }
  }

  void check_variables(const Step& step) const {
    const std::string_view words = step.words;
    for (auto at = words.find('$'); at != std::string_view::npos; at = words.find('$', at + 1)) {
      const auto after = words.substr(at + 1);
      const auto known = [&](const Variable& variable) { return after.starts_with(variable.name); };
      if (std::ranges::none_of(scenario_.variables, known)) {
        fail(step.line, "'" + std::string(words.substr(at)) + "' begins with no variable's name");
      }
    }
  }

  Scenario scenario_;
  std::vector<Line> lines_;
  std::set<std::string> names_;
  std::set<std::string> children_;
};

}  // namespace

std::string_view to_string(Outcome outcome) {
  if (outcome == Outcome::held) return "held";
  return outcome == Outcome::harmed ? "harmed" : "not_covered";
}

bool Scenario::expects_arm(std::string_view arm) const {
  return std::ranges::find(expectations, arm, &Expectation::arm) != expectations.end();
}

Scenario parse_scenario(const std::string& file, std::string_view text) {
  return Parser(file, text).parse();
}

Scenario load_scenario(const std::string& file) {
  std::ifstream stream(file);
  std::ostringstream text;
  if (!stream || !(text << stream.rdbuf())) {
    throw ScenarioError(file, 1, "cannot be read, or is empty");
  }
  return parse_scenario(file, text.str());
}

}  // namespace walguard::repro
