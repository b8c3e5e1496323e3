// SPDX-License-Identifier: MIT
//
// The actor program of walguard-repro: a process that uses SQLite as it is told over descriptor 3.
// Not for people.
#include <sqlite3.h>

#include <cstdio>
#include <exception>
#include <string_view>

#include "session.hpp"

int main(int argc, char** argv) {
  const std::string_view argument = argc > 1 ? argv[1] : "none";
  if (argument == "--version") {
    std::puts(sqlite3_libversion());
    return 0;
  }
  try {
    // Static: exit() destroys it, in this process and in a forked child of it.
    static walguard::repro::Session session(walguard::repro::Control(3),
                                            walguard::repro::make_protection(argument));
    session.serve();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "walguard-repro-actor: %s\n", error.what());
    return 3;
  }
  return 0;
}
