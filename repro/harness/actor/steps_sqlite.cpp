// SPDX-License-Identifier: MIT
// The steps that use SQLite.
#include <charconv>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "../text.hpp"
#include "session.hpp"

namespace walguard::repro {

namespace {

int number_of(const std::string& word) {
  int number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc{} || end != word.data() + word.size()) {
    throw std::runtime_error("'" + word + "' is no number");
  }
  return number;
}

OpenOptions options_of(std::string_view words) {
  OpenOptions options;
  for (const auto& word : split_words(words)) {
    if (word == "wal" || word == "delete" || word == "truncate" || word == "persist") {
      options.journal_mode = word;
    } else if (word == "ro") {
      options.read_only = true;
    } else if (word == "exclusive") {
      options.exclusive = true;
    } else if (word == "immutable") {
      options.immutable = true;
    } else if (word == "copy") {
      options.second_copy = true;
    } else if (word == "unheld") {
      options.held = false;
    } else if (word.starts_with("db=")) {
      options.file = word.substr(3);
    } else if (word.starts_with("busy=")) {
      options.busy_timeout_ms = number_of(word.substr(5));
    } else {
      throw std::runtime_error("open: '" + word + "' is no option");
    }
  }
  return options;
}

}  // namespace

Answer Session::open(Words words) {
  const auto name = take_name(words);
  return open_connection(name, options_of(words));
}

Answer Session::exec(Words words) {
  auto& connection = connection_of(words);
  return connection.execute(std::string(words));
}

Answer Session::begin(Words words) {
  auto& connection = connection_of(words);
  if (words != "read") return connection.execute("BEGIN " + std::string(words));
  // BEGIN alone takes no snapshot: the first read does.
  const auto begun = connection.execute("BEGIN");
  return begun.ok() ? connection.execute("SELECT count(*) FROM sqlite_schema") : begun;
}

Answer Session::commit(Words words) { return connection_of(words).execute("COMMIT"); }
Answer Session::rollback(Words words) { return connection_of(words).execute("ROLLBACK"); }

Answer Session::insert(Words words) {
  auto& connection = connection_of(words);
  const int count = number_of(take_word(words));
  const auto table = words.starts_with("into=") ? std::string(words.substr(5)) : std::string("t");
  for (int i = 0; i < count; ++i) {
    const auto answer = connection.execute("INSERT INTO " + table + " DEFAULT VALUES");
    if (!answer.ok()) return answer;
  }
  return {};
}

Answer Session::prepare(Words words) {
  auto& connection = connection_of(words);
  return connection.prepare(std::string(words));
}

// The last statement of a zombie closes its files.
Answer Session::finalize(Words words) {
  auto& connection = connection_of(words);
  const bool closes = connection.is_zombie();
  if (closes) protection_->before_close(connection);
  const auto answer = connection.finalize();
  if (closes) {
    connections_.erase(connection.name());
    protection_->after_close();
  }
  return answer;
}

Answer Session::journal(Words words) {
  auto& connection = connection_of(words);
  return connection.change_journal_mode(std::string(words));
}

Answer Session::checkpoint(Words words) {
  auto& connection = connection_of(words);
  return connection.checkpoint(std::string(words));
}

Answer Session::attach(Words words) {
  auto& connection = connection_of(words);
  const auto file = take_word(words);
  const auto schema = words.starts_with("as=") ? std::string(words.substr(3)) : std::string("aux1");
  const auto answer = connection.attach(file, schema);
  if (answer.ok()) protection_->after_attach(connection, schema);
  return answer;
}

Answer Session::detach(Words words) {
  auto& connection = connection_of(words);
  const auto schema = words.empty() ? std::string("aux1") : std::string(words);
  protection_->before_detach(connection, schema);
  return connection.detach(schema);
}

Answer Session::close(Words words) { return close_connection(connection_of(words), false); }
Answer Session::close_v2(Words words) { return close_connection(connection_of(words), true); }

Answer Session::reopen(Words words) {
  auto& connection = connection_of(words);
  const auto name = connection.name();
  const auto options = connection.options();
  const auto closed = close_connection(connection, false);
  return closed.ok() ? open_connection(name, options) : closed;
}

Answer Session::visits(Words words) {
  const int count = number_of(take_word(words));
  const std::string sql(words);
  for (int i = 0; i < count; ++i) {
    Connection visit("visit", {});
    auto answer = visit.open();
    if (answer.ok()) answer = visit.execute(sql);
    if (answer.ok()) answer = visit.close();
    if (!answer.ok()) return {answer.rc, "visit " + std::to_string(i + 1) + ": " + answer.text};
  }
  return {};
}

Answer Session::exec_until(Words words) {
  auto& connection = connection_of(words);
  const int events = number_of(take_word(words));
  const auto answer =
      connection.execute_until(events, std::string(words), [this] { serve_while_paused(); });
  // The answer that this function makes is the one to the `resume` that let the statement go on.
  answered_ = false;
  return answer;
}

Answer Session::resume(Words) {
  if (!paused_) throw std::runtime_error("resume: nothing is stopped by exec-until");
  paused_ = false;
  answered_ = true;
  return {};
}

// What a fresh process sees of a database: the integrity check, and the rowids of every table.
Answer Session::verify(Words words) {
  OpenOptions options;
  options.file = words;
  Connection connection("verify", options);
  auto answer = connection.open();
  if (!answer.ok()) return answer;
  nlohmann::json seen = {{"integrity", ""}, {"rows", nlohmann::json::object()}};
  answer = connection.execute("PRAGMA integrity_check");
  seen["integrity"] = answer.ok() ? answer.text : std::to_string(answer.rc) + " " + answer.text;
  const auto tables = connection.table_names();
  for (const auto& table : tables) seen["rows"][table] = connection.rowids(table);
  extra_ = seen.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return {};
}

}  // namespace walguard::repro
