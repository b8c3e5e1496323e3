// SPDX-License-Identifier: MIT
#include "session.hpp"

#include <unistd.h>

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "../text.hpp"

namespace walguard::repro {

namespace {

nlohmann::json described(const Connection& connection) {
  auto schemas = nlohmann::json::array();
  for (const auto& schema : connection.schemas()) {
    schemas.push_back({{"file", schema.file}, {"transaction", schema.transaction}});
  }
  return {{"name", connection.name()},
          {"serial", connection.serial()},
          {"schemas", std::move(schemas)}};
}

}  // namespace

Session::Session(Control control, std::unique_ptr<Protection> protection)
    : control_(std::move(control)), protection_(std::move(protection)) {}

Session::~Session() { close_everything(); }

void Session::serve() {
  while (const auto line = control_.read_line()) serve_one(*line);
}

void Session::serve_while_paused() {
  paused_ = true;
  reply({SQLITE_OK, "paused"});
  while (paused_) {
    const auto line = control_.read_line();
    if (!line) ::_exit(3);
    serve_one(*line);
  }
}

void Session::serve_one(const std::string& line) {
  std::string_view words = line;
  const auto verb = take_word(words);
  answered_ = false;
  extra_.clear();
  Answer answer;
  try {
    const auto handler = handlers().find(verb);
    if (handler == handlers().end()) throw std::runtime_error("unknown step '" + verb + "'");
    answer = (this->*handler->second)(words);
  } catch (const std::exception& error) {
    fault_ = error.what();
  }
  if (!answered_) reply(answer);
}

void Session::reply(const Answer& answer, int attached, int child) {
  auto connections = nlohmann::json::array();
  auto acknowledged = nlohmann::json::array();
  for (const auto& [name, connection] : connections_) {
    for (const auto& row : connection->take_acknowledged()) {
      acknowledged.push_back({row.file, row.table, row.rowid, row.change});
    }
    if (connection->is_open()) connections.push_back(described(*connection));
  }
  auto evidence = protection_->take_evidence();
  evidence.insert(evidence.end(), evidence_.begin(), evidence_.end());
  evidence_.clear();
  nlohmann::json json = {{"rc", answer.rc},
                         {"text", answer.text},
                         {"connections", std::move(connections)},
                         {"acknowledged", std::move(acknowledged)},
                         {"evidence", std::move(evidence)},
                         {"notes", protection_->take_notes()},
                         {"paused", paused_},
                         {"fault", std::exchange(fault_, {})},
                         {"child", child}};
  if (!extra_.empty()) json["extra"] = nlohmann::json::parse(extra_);
  control_.write_line(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
                      attached);
}

const std::map<std::string_view, Session::Handler>& Session::handlers() {
  static const std::map<std::string_view, Handler> table = {
      {"open", &Session::open},
      {"exec", &Session::exec},
      {"query", &Session::exec},
      {"begin", &Session::begin},
      {"commit", &Session::commit},
      {"rollback", &Session::rollback},
      {"insert", &Session::insert},
      {"prepare", &Session::prepare},
      {"finalize", &Session::finalize},
      {"journal", &Session::journal},
      {"checkpoint", &Session::checkpoint},
      {"attach", &Session::attach},
      {"detach", &Session::detach},
      {"close", &Session::close},
      {"close_v2", &Session::close_v2},
      {"reopen", &Session::reopen},
      {"visits", &Session::visits},
      {"exec-until", &Session::exec_until},
      {"resume", &Session::resume},
      {"stray", &Session::stray_step},
      {"keep", &Session::keep},
      {"drop", &Session::drop},
      {"sweep", &Session::sweep},
      {"load-copy", &Session::load_copy},
      {"descriptors-gone", &Session::descriptors_gone},
      {"hold", &Session::hold},
      {"release", &Session::release},
      {"refresh", &Session::refresh},
      {"pause", &Session::pause},
      {"unpause", &Session::unpause},
      {"fork", &Session::fork_child},
      {"spawn", &Session::spawn_child},
      {"end", &Session::end},
      {"exit", &Session::leave},
      {"quit", &Session::quit},
      {"ready", &Session::ready},
      {"reap", &Session::reap},
      {"verify", &Session::verify},
  };
  return table;
}

std::string Session::take_name(Words& words) const {
  if (!words.starts_with('@')) return "main";
  return take_word(words).substr(1);
}

Connection& Session::connection_of(Words& words) {
  const auto name = take_name(words);
  const auto found = connections_.find(name);
  if (found == connections_.end()) {
    throw std::runtime_error("this actor has no open connection '" + name + "'");
  }
  return *found->second;
}

Answer Session::open_connection(const std::string& name, const OpenOptions& options) {
  auto connection = std::make_unique<Connection>(name, options);
  const auto answer = connection->open();
  // A failure leaves no connection behind; one whose first PRAGMA was refused is closed again.
  if (!answer.ok()) return answer;
  auto& slot = connections_[name];
  if (slot && slot->is_open()) throw std::runtime_error("'" + name + "' is open already");
  slot = std::move(connection);
  if (options.held && !options.second_copy) protection_->after_open(*slot);
  return answer;
}

// A close that SQLite refuses leaves the connection open, so it must stay protected: whether it
// will be refused is known before.
Answer Session::close_connection(Connection& connection, bool deferred) {
  const bool stays_open = connection.has_statements();
  if (!stays_open) protection_->before_close(connection);
  auto answer = deferred ? connection.close_v2() : connection.close();
  if (!connection.is_open()) {
    connections_.erase(connection.name());
    protection_->after_close();
  }
  return answer;
}

void Session::close_everything() {
  while (!connections_.empty()) {
    auto& connection = *connections_.begin()->second;
    protection_->before_close(connection);
    connection.finalize();
    if (connection.handle() != nullptr) connection.close();
    connections_.erase(connections_.begin());
  }
  protection_->after_close();
}

}  // namespace walguard::repro
