// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "guard/record.hpp"

namespace walguard::guard {

// What the SQLite in this process has open and mapped, told by the kernel: nothing is opened but
// /proc, so nothing can be cancelled.

// Finds a descriptor of each file of the generation in the calling thread's table; -1 where there
// is none. Looks near the numbers found last before it lists the whole table, so that guarding the
// thousandth database costs what the first did. Returns 0 or an errno.
[[nodiscard]] int find_descriptors(const Generation& generation, SqliteDescriptors& out);

// A descriptor that the kernel shows under that path but that is another file than `identity`:
// evidence that the file was unlinked or replaced after it was opened.
[[nodiscard]] bool has_other_file_of_name(const std::string& path, FileIdentity identity);

enum class Mapped {
  this_one,  // the -shm at the path is mapped
  another,   // another file is mapped under that name: the generation was replaced
  none,
};

// Which -shm this process maps. `address` is where SQLite says it is, nullptr when not known.
// Returns 0 or an errno: "could not look" is not "none".
[[nodiscard]] int mapped_shm(const std::string& shm_path, FileIdentity shm, const void* address,
                             Mapped& out);

}  // namespace walguard::guard
