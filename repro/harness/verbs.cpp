// SPDX-License-Identifier: MIT
#include "verbs.hpp"

#include <algorithm>

#include "text.hpp"

namespace walguard::repro {

const std::vector<Verb>& verbs() {
  static const std::vector<Verb> table = {
      // Connections. @NAME chooses one of several connections of the actor.
      {"open", false, 0,
       "open [@CONN] [wal|delete|truncate|persist] [ro] [exclusive] [immutable] [copy] [unheld] "
       "[db=FILE] [busy=MS]",
       "opens a connection; as copy, with the second SQLite; unheld: the arm leaves it alone"},
      {"exec", false, 1, "exec [@CONN] SQL", "runs statements"},
      {"query", false, 1, "query [@CONN] SQL", "the same"},
      {"begin", false, 0, "begin [@CONN] [deferred|immediate|exclusive|read]",
       "read: takes a snapshot too"},
      {"commit", false, 0, "commit [@CONN]", ""},
      {"rollback", false, 0, "rollback [@CONN]", ""},
      {"insert", false, 1, "insert [@CONN] COUNT [into=TABLE]",
       "so many rows of default values, each in a transaction of its own"},
      {"prepare", false, 1, "prepare [@CONN] SQL", "leaves a statement at its first row"},
      {"finalize", false, 0, "finalize [@CONN]", "ends that statement"},
      {"journal", false, 1, "journal [@CONN] MODE", "changes the journal mode"},
      {"checkpoint", false, 1, "checkpoint [@CONN] passive|full|restart|truncate", ""},
      {"attach", false, 1, "attach [@CONN] FILE [as=SCHEMA]", ""},
      {"detach", false, 0, "detach [@CONN] [SCHEMA]", ""},
      {"close", false, 0, "close [@CONN]", ""},
      {"close_v2", false, 0, "close_v2 [@CONN]", ""},
      {"reopen", false, 0, "reopen [@CONN]", "close and open"},
      {"visits", false, 2, "visits COUNT SQL", "opens, runs, closes, so many times"},
      // The answer is taken later, by `await`. until-cut: until it has written to the -shm, or has
      // answered without.
      {"start", false, 1, "start STEP ...", "a step whose answer is taken later"},
      {"until-cut", false, 0, "until-cut", "waits until that step has cut the -shm, or has ended"},
      {"await", false, 0, "await", "takes the answer"},
      {"exec-until", false, 2, "exec-until [@CONN] EVENTS SQL",
       "stops in the middle, after so many events of SQLite's progress handler"},
      {"resume", false, 0, "resume", "lets it go on"},
      // What else goes on in the process.
      {"stray", false, 1,
       "stray none|db|wal|shm|both|all [by=open|header|rw|fd|fchmod|copy|dup|procfd] [db=FILE]",
       "opens and closes files outside SQLite; both: db and shm; dup, procfd: by way of its own "
       "descriptor"},
      {"keep", false, 1, "keep db|wal|shm|both|all [db=FILE]", "opens files outside SQLite"},
      {"drop", false, 0, "drop", "closes what keep opened"},
      {"sweep", false, 0, "sweep", "closes every descriptor from 3 on"},
      {"load-copy", false, 1, "load-copy copied|dlmopen|system",
       "loads a second SQLite into the process"},
      {"descriptors-gone", false, 0, "descriptors-gone [db=FILE]",
       "the process has no descriptor of the sidecars any more"},
      // The arm's own calls: nothing happens in an actor that is not protected.
      {"hold", false, 0, "hold [@CONN] [as=NAME] [schema=SCHEMA]",
       "the arm's own calls; nothing happens in an actor that it does not protect"},
      {"release", false, 0, "release [@CONN|NAME]", ""},
      {"refresh", false, 0, "refresh [@CONN]", ""},
      {"pause", false, 0, "pause [@CONN]", ""},
      {"unpause", false, 0, "unpause [@CONN]", ""},
      // The process.
      {"fork", false, 1, "fork CHILD",
       "the child is an actor of that name and has all connections"},
      {"spawn", false, 1, "spawn CHILD", "starts another program"},
      {"end", false, 0, "end", "closes everything and exits"},
      {"exit", false, 0, "exit", "exit(): destructors close what is open"},
      {"quit", false, 0, "quit", "_exit()"},
      {"kill", false, 0, "kill", "SIGKILL"},
      {"stop", false, 0, "stop", "SIGSTOP"},
      {"continue", false, 0, "continue", "SIGCONT"},
      {"shell", false, 1, "shell [-OPTION...] [db=FILE] SQL", "runs the stock sqlite3 program"},
      // The harness.
      {"locked", true, 1, "locked db|shm|both [db=FILE]",
       "somebody holds the lock that keeps the file alive"},
      {"free", true, 1, "free db|shm|both [db=FILE]", "nobody does"},
      {"no-sidecars", true, 0, "no-sidecars [db=FILE]", "-wal and -shm are gone"},
      {"copy", true, 2, "copy FROM TO", "copies a file"},
  };
  return table;
}

std::string complaint_about_step(bool outside, std::string_view verb, std::string_view words) {
  const auto matches = [&](const Verb& entry) {
    return entry.outside == outside && entry.name == verb;
  };
  const auto found = std::ranges::find_if(verbs(), matches);
  if (found == verbs().end()) {
    std::vector<std::string> known;
    for (const auto& entry : verbs()) {
      if (entry.outside == outside) known.emplace_back(entry.name);
    }
    return (outside ? "'outside' has no verb '" : "no step is called '") + std::string(verb) +
           "'; known: " + join(known, " ");
  }
  auto count = split_words(words).size();
  if (words.starts_with('@')) --count;
  if (static_cast<int>(count) < found->least_words) {
    return "usage: " + std::string(found->usage);
  }
  return {};
}

}  // namespace walguard::repro
