// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace walguard::repro {

// The files that `target` (none, db, wal, shm, both, all) names, of the database `file`.
// Throws std::runtime_error for another word.
[[nodiscard]] std::vector<std::string> files_of_target(const std::string& target,
                                                       const std::string& file);

// Closes a descriptor of `path` outside SQLite, obtained in one of the ways in which programs do:
//   open    open(), close()                       header  the same, 16 bytes are read
//   rw      opened for writing                    fchmod  permissions are set through it
//   fd      openat() on a directory's descriptor  copy    the whole file is read
//   dup     a duplicate of SQLite's own           procfd  SQLite's, through /proc/self/fd/N
// Throws std::runtime_error.
void stray(const std::string& path, const std::string& by);

// Opens `path` and returns the descriptor.
[[nodiscard]] int keep_descriptor(const std::string& path);

// Closes every descriptor from 3 on except `spared`, as programs do before they start another.
void sweep_descriptors(int spared);

// How many descriptors of `path` or of a file that had that name this process has, O_PATH ones not
// counted: they hold no lock and can lose none.
[[nodiscard]] int count_descriptors(const std::string& path);

}  // namespace walguard::repro
