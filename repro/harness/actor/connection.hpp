// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sqlite_routines.hpp"

namespace walguard::repro {

// What a call of SQLite answered: an extended result code, and its message or the rows.
struct Answer {
  int rc = SQLITE_OK;
  std::string text;
  [[nodiscard]] bool ok() const { return rc == SQLITE_OK; }
};

// One row that a successful COMMIT acknowledged.
struct Acknowledged {
  std::string file;  // the database's file name
  std::string table;
  long long rowid;
  int change;  // +1 inserted, -1 deleted
};

struct OpenOptions {
  std::string file = "test.db";
  std::string journal_mode;  // "" leaves it as the file says
  bool read_only = false;
  bool exclusive = false;
  bool immutable = false;
  bool second_copy = false;
  bool held = true;  // the arm protects it by itself
  int busy_timeout_ms = 0;
};

struct Schema {
  std::string name;
  std::string file;
  std::string transaction;  // none, read, write
};

// One connection of an actor. It counts the rows that its commits acknowledge. Bound to the one
// thread of the actor; neither copyable nor movable, because SQLite's hooks point to it.
class Connection {
 public:
  Connection(std::string name, OpenOptions options);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  Answer open();
  Answer execute(const std::string& sql);
  // Runs `sql`, and calls `pause` in the middle of it, after so many events of SQLite's progress
  // handler; never if it ends before.
  Answer execute_until(int events, const std::string& sql, std::function<void()> pause);
  // Leaves a statement stepped to its first row and not finalized.
  Answer prepare(const std::string& sql);
  Answer finalize();
  Answer change_journal_mode(const std::string& mode);
  Answer checkpoint(const std::string& mode);
  Answer attach(const std::string& file, const std::string& schema);
  Answer detach(const std::string& schema);
  Answer close();
  Answer close_v2();
  [[nodiscard]] bool has_statements() const;

  // For the oracle. A table that cannot be read has the rows that came before the error.
  [[nodiscard]] std::vector<std::string> table_names();
  [[nodiscard]] std::vector<long long> rowids(const std::string& table);

  [[nodiscard]] const std::string& name() const { return name_; }
  // Tells apart two connections of one name, one opened after the other.
  [[nodiscard]] int serial() const { return serial_; }
  [[nodiscard]] const OpenOptions& options() const { return options_; }
  [[nodiscard]] sqlite3* handle() const { return db_; }  // nullptr when closed, or a zombie
  [[nodiscard]] bool is_open() const { return db_ != nullptr || zombie_; }
  [[nodiscard]] bool is_zombie() const { return zombie_; }
  [[nodiscard]] std::vector<Schema> schemas() const;
  [[nodiscard]] std::vector<Acknowledged> take_acknowledged();

 private:
  static void on_update(void* self, int operation, const char* schema, const char* table,
                        long long rowid);
  static void on_rollback(void* self);
  static int on_progress(void* self);
  [[nodiscard]] Answer answer(int rc) const;
  void settle(const Answer& answer, std::size_t pending_before);
  std::vector<std::string> first_column(const std::string& sql);

  std::string name_;
  int serial_;
  OpenOptions options_;
  const SqliteRoutines* sqlite_;
  sqlite3* db_ = nullptr;
  sqlite3_stmt* statement_ = nullptr;
  bool zombie_ = false;
  std::vector<std::string> attached_;
  std::map<std::string, std::string> files_;  // by schema, also of a zombie
  std::vector<Acknowledged> pending_;
  std::vector<Acknowledged> acknowledged_;
  std::function<void()> pause_;
  int events_left_ = 0;
};

}  // namespace walguard::repro
