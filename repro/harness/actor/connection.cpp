// SPDX-License-Identifier: MIT
#include "connection.hpp"

#include <strings.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <utility>

namespace walguard::repro {

namespace {

constexpr std::size_t kLongestText = 2000;

int last_serial = 0;

// The pieces of `sql` are run one after the other, as sqlite3_exec() does; that function is not
// used because the rows are wanted as text whatever their number of columns is.
void append_row(const SqliteRoutines& sqlite, sqlite3_stmt* statement, std::string& text) {
  if (text.size() > kLongestText) return;
  if (!text.empty()) text += '\n';
  for (int i = 0; i < sqlite.column_count(statement); ++i) {
    if (i > 0) text += '|';
    const auto* value = sqlite.column_text(statement, i);
    if (value != nullptr) text += reinterpret_cast<const char*>(value);
  }
}

}  // namespace

Connection::Connection(std::string name, OpenOptions options)
    : name_(std::move(name)),
      serial_(++last_serial),
      options_(std::move(options)),
      sqlite_(&linked_sqlite()) {
  if (!options_.second_copy) return;
  sqlite_ = second_sqlite();
  if (sqlite_ == nullptr) throw std::runtime_error("open ... copy: no load-copy step before it");
}

Connection::~Connection() {
  if (!is_open()) return;
  finalize();
  if (db_ != nullptr) close();
}

Answer Connection::answer(int rc) const {
  if (rc == SQLITE_OK || rc == SQLITE_DONE || rc == SQLITE_ROW) return {};
  return {sqlite_->extended_errcode(db_), sqlite_->errmsg(db_)};
}

Answer Connection::open() {
  int flags =
      options_.read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  auto target = options_.file;
  if (options_.immutable) {
    flags |= SQLITE_OPEN_URI;
    target = "file:" + target + "?immutable=1";
  }
  auto result = answer(sqlite_->open_v2(target.c_str(), &db_, flags, nullptr));
  if (!result.ok()) {
    sqlite_->close(db_);
    db_ = nullptr;
    return result;
  }
  sqlite_->extended_result_codes(db_, 1);
  sqlite_->busy_timeout(db_, options_.busy_timeout_ms);
  sqlite_->update_hook(db_, &Connection::on_update, this);
  sqlite_->rollback_hook(db_, &Connection::on_rollback, this);
  files_["main"] = options_.file;
  if (options_.exclusive) result = execute("PRAGMA locking_mode=EXCLUSIVE");
  if (result.ok() && !options_.journal_mode.empty()) {
    result = change_journal_mode(options_.journal_mode);
  }
  return result;
}

Answer Connection::execute(const std::string& sql) {
  if (db_ == nullptr) return {SQLITE_MISUSE, "the connection is not open"};
  const auto pending_before = pending_.size();
  Answer result;
  const char* rest = sql.c_str();
  while (result.ok() && *rest != '\0') {
    sqlite3_stmt* statement = nullptr;
    int rc = sqlite_->prepare_v2(db_, rest, -1, &statement, &rest);
    if (rc != SQLITE_OK) {
      result = answer(rc);
      break;
    }
    if (statement == nullptr) continue;
    while ((rc = sqlite_->step(statement)) == SQLITE_ROW) {
      append_row(*sqlite_, statement, result.text);
    }
    if (rc != SQLITE_DONE) result = answer(rc);
    sqlite_->finalize(statement);
    settle(result, pending_before);
  }
  return result;
}

// A row counts as acknowledged once SQLite has said OK and no transaction is open any more.
void Connection::settle(const Answer& result, std::size_t pending_before) {
  const bool in_transaction = sqlite_->get_autocommit(db_) == 0;
  if (!result.ok() && pending_.size() > pending_before) pending_.resize(pending_before);
  if (in_transaction) return;
  if (result.ok()) acknowledged_.insert(acknowledged_.end(), pending_.begin(), pending_.end());
  pending_.clear();
}

Answer Connection::execute_until(int events, const std::string& sql, std::function<void()> pause) {
  pause_ = std::move(pause);
  events_left_ = events;
  sqlite_->progress_handler(db_, 1, &Connection::on_progress, this);
  auto result = execute(sql);
  sqlite_->progress_handler(db_, 0, nullptr, nullptr);
  pause_ = nullptr;
  if (events_left_ > 0 && result.ok()) {
    return {SQLITE_MISUSE, "the statement ended " + std::to_string(events_left_) +
                               " events before the place to stop at"};
  }
  return result;
}

int Connection::on_progress(void* self) {
  auto& connection = *static_cast<Connection*>(self);
  if (connection.events_left_ > 0 && --connection.events_left_ == 0) connection.pause_();
  return 0;
}

Answer Connection::prepare(const std::string& sql) {
  if (statement_ != nullptr) return {SQLITE_MISUSE, "a statement is already prepared"};
  int rc = sqlite_->prepare_v2(db_, sql.c_str(), -1, &statement_, nullptr);
  if (rc == SQLITE_OK) rc = sqlite_->step(statement_);
  return answer(rc);
}

Answer Connection::finalize() {
  if (statement_ == nullptr) return {};
  sqlite_->finalize(statement_);
  statement_ = nullptr;
  zombie_ = false;
  return {};
}

Answer Connection::change_journal_mode(const std::string& mode) {
  auto result = execute("PRAGMA journal_mode=" + mode);
  if (result.ok() && strcasecmp(result.text.c_str(), mode.c_str()) != 0) {
    return {SQLITE_BUSY, "the journal mode stays " + result.text};
  }
  return result;
}

Answer Connection::checkpoint(const std::string& mode) {
  static const std::map<std::string, int> kModes = {{"passive", SQLITE_CHECKPOINT_PASSIVE},
                                                    {"full", SQLITE_CHECKPOINT_FULL},
                                                    {"restart", SQLITE_CHECKPOINT_RESTART},
                                                    {"truncate", SQLITE_CHECKPOINT_TRUNCATE}};
  int frames = 0;
  int done = 0;
  const int rc = sqlite_->wal_checkpoint_v2(db_, nullptr, kModes.at(mode), &frames, &done);
  auto result = answer(rc);
  if (result.ok()) result.text = std::to_string(done) + " of " + std::to_string(frames) + " frames";
  return result;
}

Answer Connection::attach(const std::string& file, const std::string& schema) {
  auto result = execute("ATTACH '" + file + "' AS " + schema);
  if (result.ok()) {
    attached_.push_back(schema);
    files_[schema] = file;
  }
  return result;
}

Answer Connection::detach(const std::string& schema) {
  auto result = execute("DETACH " + schema);
  if (result.ok()) std::erase(attached_, schema);
  return result;
}

Answer Connection::close() {
  if (db_ == nullptr) return {SQLITE_MISUSE, "the connection is not open"};
  auto result = answer(sqlite_->close(db_));
  if (result.ok()) db_ = nullptr;
  return result;
}

Answer Connection::close_v2() {
  if (db_ == nullptr) return {SQLITE_MISUSE, "the connection is not open"};
  zombie_ = has_statements();
  const int rc = sqlite_->close_v2(db_);
  db_ = nullptr;
  return {rc, rc == SQLITE_OK ? "" : "sqlite3_close_v2 failed"};
}

bool Connection::has_statements() const {
  return statement_ != nullptr || (db_ != nullptr && sqlite_->next_stmt(db_, nullptr) != nullptr);
}

std::vector<Schema> Connection::schemas() const {
  static constexpr const char* kStates[] = {"none", "read", "write"};
  std::vector<std::string> names{"main"};
  names.insert(names.end(), attached_.begin(), attached_.end());
  std::vector<Schema> schemas;
  for (const auto& schema : names) {
    // A zombie must not be touched; it keeps its read transaction.
    const int state = db_ == nullptr ? SQLITE_TXN_READ : sqlite_->txn_state(db_, schema.c_str());
    schemas.push_back({schema, files_.at(schema), kStates[std::clamp(state, 0, 2)]});
  }
  return schemas;
}

std::vector<Acknowledged> Connection::take_acknowledged() {
  return std::exchange(acknowledged_, {});
}

std::vector<std::string> Connection::first_column(const std::string& sql) {
  std::vector<std::string> values;
  sqlite3_stmt* statement = nullptr;
  if (sqlite_->prepare_v2(db_, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) return values;
  while (sqlite_->step(statement) == SQLITE_ROW) {
    const auto* value = sqlite_->column_text(statement, 0);
    values.emplace_back(value == nullptr ? "" : reinterpret_cast<const char*>(value));
  }
  sqlite_->finalize(statement);
  return values;
}

std::vector<std::string> Connection::table_names() {
  return first_column(
      "SELECT name FROM sqlite_schema WHERE type='table' AND name NOT LIKE 'sqlite_%'");
}

std::vector<long long> Connection::rowids(const std::string& table) {
  std::vector<long long> ids;
  for (const auto& text : first_column("SELECT rowid FROM \"" + table + "\"")) {
    ids.push_back(std::stoll(text));
  }
  return ids;
}

void Connection::on_update(void* self, int operation, const char* schema, const char* table,
                           long long rowid) {
  auto& connection = *static_cast<Connection*>(self);
  const auto file = connection.files_.find(schema);
  if (operation == SQLITE_UPDATE || file == connection.files_.end()) return;
  connection.pending_.push_back({file->second, table, rowid, operation == SQLITE_INSERT ? 1 : -1});
}

void Connection::on_rollback(void* self) { static_cast<Connection*>(self)->pending_.clear(); }

}  // namespace walguard::repro
