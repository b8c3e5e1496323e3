// SPDX-License-Identifier: MIT
#include "evidence.hpp"

#include <algorithm>

namespace walguard::repro {

const std::vector<EvidenceWord>& evidence_words() {
  static const std::vector<EvidenceWord> words = {
      {"wal-deleted", "the -wal that a live connection writes to lost its name"},
      {"shm-deleted", "the -shm that a live connection has mapped lost its name"},
      {"shm-truncated", "the -shm was cut, or cut and built anew, under a live connection"},
      {"rows-lost", "a row whose COMMIT was acknowledged is not seen by a fresh process"},
      {"corrupt", "integrity_check fails, or SQLite says CORRUPT or NOTADB"},
      {"sigbus", "an actor died of SIGBUS"},
      {"crashed", "an actor died of another signal that no step sent"},
      {"io-error", "a call answered SQLITE_IOERR"},
      {"cant-open", "a call answered SQLITE_CANTOPEN"},
      {"protocol", "a call answered SQLITE_PROTOCOL"},
      {"readonly", "a call answered SQLITE_READONLY"},
      {"sql-error", "a call answered SQLITE_ERROR or another code that its SQL does not explain"},
      {"busy-missed", "a lock should have kept another connection out, and did not"},
      {"locks-lost", "asked from outside, nobody holds the lock that keeps the WAL alive"},
      {"lock-left", "asked from outside, a lock is still held after its owner has gone"},
      {"refused", "a call that must succeed was refused"},
      {"sidecars-left", "-wal or -shm is left behind by a true last close"},
      {"descriptors-left", "a closed database still has descriptors in the process"},
      {"guard-refused",
       "the protection could not be put in place, for no reason of the database's"},
  };
  return words;
}

bool is_evidence_word(std::string_view word) {
  return std::ranges::find(evidence_words(), word, &EvidenceWord::word) != evidence_words().end();
}

std::string_view evidence_of_result(int sqlite_code) {
  // Primary result codes of sqlite3.h; the harness itself is not linked with any SQLite.
  switch (sqlite_code & 0xff) {
    case 0:    // OK
    case 5:    // BUSY
    case 6:    // LOCKED
    case 100:  // ROW
    case 101:  // DONE
      return {};
    case 8: return "readonly";
    case 10: return "io-error";
    case 11:  // CORRUPT
    case 26:  // NOTADB
      return "corrupt";
    case 14: return "cant-open";
    case 15: return "protocol";
    default: return "sql-error";
  }
}

void Evidence::add(std::string_view word, std::string detail) {
  words_.emplace(word);
  details_.push_back(std::string(word) + ": " + std::move(detail));
}

}  // namespace walguard::repro
