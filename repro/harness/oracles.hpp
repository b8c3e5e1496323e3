// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "evidence.hpp"
#include "ledger.hpp"

namespace walguard::repro {

// What a fresh process sees. While actors live it looks at a copy of the files, because one that
// opens the database itself is a foreign opener and last closer, which is what is under test. A
// copy by plain reads is exact: no step is under way, and the harness has no locks to lose by it.
class FreshProcessOracle {
 public:
  FreshProcessOracle(std::string actor_program, std::filesystem::path directory)
      : actor_program_(std::move(actor_program)), directory_(std::move(directory)) {}

  // With all actors as they are.
  void look_at_copy(const Ledger& ledger, Evidence& evidence) const;
  // After everybody has ended.
  void look_at_files(const Ledger& ledger, Evidence& evidence) const;

 private:
  void verify(const std::filesystem::path& directory, const std::string& file,
              const std::string& when, const Ledger& ledger, Evidence& evidence) const;

  std::string actor_program_;
  std::filesystem::path directory_;
};

// Whether anybody holds a lock on the byte ranges that keep a WAL alive: SHARED on the database
// (`target` db), the deadman switch on its -shm (shm), or both of them (both). `held` says what the
// scenario expects; evidence is added where it is not so.
void probe_locks(const std::filesystem::path& directory, const std::string& file,
                 const std::string& target, bool held, Evidence& evidence);

void probe_no_sidecars(const std::filesystem::path& directory, const std::string& file,
                       Evidence& evidence);

// The lines of /proc/locks about the database and its sidecars, for a person who reads the results.
[[nodiscard]] std::vector<std::string> lock_lines(const std::filesystem::path& directory,
                                                  const std::string& file);

}  // namespace walguard::repro
