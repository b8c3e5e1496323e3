// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "connection.hpp"
#include "control.hpp"
#include "protection.hpp"

namespace walguard::repro {

// The state of an actor and the steps that it understands. When it is destroyed, as exit() does
// with everything static, it closes the connections: also in a forked child, where that is one of
// the faults to show.
class Session {
 public:
  Session(Control control, std::unique_ptr<Protection> protection);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Obeys the harness until it hangs up, or a step ends the process.
  void serve();

 private:
  using Words = std::string_view;
  using Handler = Answer (Session::*)(Words);

  static const std::map<std::string_view, Handler>& handlers();
  void serve_one(const std::string& line);
  void reply(const Answer& answer, int attached = -1, int child = 0);
  void serve_while_paused();

  std::string take_name(Words& words) const;
  Connection& connection_of(Words& words);
  Answer open_connection(const std::string& name, const OpenOptions& options);
  Answer close_connection(Connection& connection, bool deferred);
  void close_everything();

  Answer open(Words words);
  Answer exec(Words words);
  Answer begin(Words words);
  Answer commit(Words words);
  Answer rollback(Words words);
  Answer insert(Words words);
  Answer prepare(Words words);
  Answer finalize(Words words);
  Answer journal(Words words);
  Answer checkpoint(Words words);
  Answer attach(Words words);
  Answer detach(Words words);
  Answer close(Words words);
  Answer close_v2(Words words);
  Answer reopen(Words words);
  Answer visits(Words words);
  Answer exec_until(Words words);
  Answer resume(Words words);
  Answer stray_step(Words words);
  Answer keep(Words words);
  Answer drop(Words words);
  Answer sweep(Words words);
  Answer load_copy(Words words);
  Answer descriptors_gone(Words words);
  Answer hold(Words words);
  Answer release(Words words);
  Answer refresh(Words words);
  Answer pause(Words words);
  Answer unpause(Words words);
  Answer fork_child(Words words);
  Answer spawn_child(Words words);
  Answer end(Words words);
  Answer leave(Words words);
  Answer quit(Words words);
  Answer ready(Words words);
  Answer reap(Words words);
  Answer verify(Words words);

  Control control_;
  std::unique_ptr<Protection> protection_;
  std::map<std::string, std::unique_ptr<Connection>> connections_;
  std::vector<int> kept_;
  std::vector<std::string> evidence_;
  std::string extra_;      // a JSON object that the answer carries, "" for none
  std::string fault_;      // why a step could not be understood, not what SQLite answered
  bool paused_ = false;    // inside exec-until
  bool answered_ = false;  // the handler has sent the answer itself
};

}  // namespace walguard::repro
