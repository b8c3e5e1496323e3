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
       "[db=FILE] [busy=MS]"},
      {"exec", false, 1, "exec [@CONN] SQL"},
      {"query", false, 1, "query [@CONN] SQL"},
      {"begin", false, 0, "begin [@CONN] [deferred|immediate|exclusive|read]"},
      {"commit", false, 0, "commit [@CONN]"},
      {"rollback", false, 0, "rollback [@CONN]"},
      {"insert", false, 1, "insert [@CONN] COUNT [into=TABLE]"},
      {"prepare", false, 1, "prepare [@CONN] SQL"},
      {"finalize", false, 0, "finalize [@CONN]"},
      {"journal", false, 1, "journal [@CONN] MODE"},
      {"checkpoint", false, 1, "checkpoint [@CONN] passive|full|restart|truncate"},
      {"attach", false, 1, "attach [@CONN] FILE [as=SCHEMA]"},
      {"detach", false, 0, "detach [@CONN] [SCHEMA]"},
      {"close", false, 0, "close [@CONN]"},
      {"close_v2", false, 0, "close_v2 [@CONN]"},
      {"reopen", false, 0, "reopen [@CONN]"},
      {"visits", false, 2, "visits COUNT SQL"},
      // The answer is taken later, by `await`. until-cut: until it has written to the -shm, or has
      // answered without.
      {"start", false, 1, "start STEP ..."},
      {"until-cut", false, 0, "until-cut"},
      {"await", false, 0, "await"},
      {"exec-until", false, 2, "exec-until [@CONN] EVENTS SQL"},
      {"resume", false, 0, "resume"},
      // What else goes on in the process.
      {"stray", false, 1,
       "stray none|db|wal|shm|both|all [by=open|header|rw|fd|fchmod|copy|dup|procfd] [db=FILE]"},
      {"keep", false, 1, "keep db|wal|shm|both|all [db=FILE]"},
      {"drop", false, 0, "drop"},
      {"sweep", false, 0, "sweep"},
      {"load-copy", false, 1, "load-copy copied|dlmopen|system"},
      {"descriptors-gone", false, 0, "descriptors-gone [db=FILE]"},
      // The arm's own calls: nothing happens in an actor that is not protected.
      {"hold", false, 0, "hold [@CONN] [as=NAME] [schema=SCHEMA]"},
      {"release", false, 0, "release [@CONN|NAME]"},
      {"refresh", false, 0, "refresh [@CONN]"},
      {"pause", false, 0, "pause [@CONN]"},
      {"unpause", false, 0, "unpause [@CONN]"},
      // The process.
      {"fork", false, 1, "fork CHILD"},
      {"spawn", false, 1, "spawn CHILD"},
      {"end", false, 0, "end"},
      {"exit", false, 0, "exit"},
      {"quit", false, 0, "quit"},
      {"kill", false, 0, "kill"},
      {"stop", false, 0, "stop"},
      {"continue", false, 0, "continue"},
      {"shell", false, 1, "shell [-OPTION...] [db=FILE] SQL"},
      // The harness.
      {"locked", true, 1, "locked db|shm|both [db=FILE]"},
      {"free", true, 1, "free db|shm|both [db=FILE]"},
      {"no-sidecars", true, 0, "no-sidecars [db=FILE]"},
      {"copy", true, 2, "copy FROM TO"},
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
