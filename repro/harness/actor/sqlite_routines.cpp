// SPDX-License-Identifier: MIT
#include "sqlite_routines.hpp"

#include <dlfcn.h>
#include <link.h>

#include <filesystem>
#include <memory>
#include <stdexcept>

namespace walguard::repro {

namespace {

std::unique_ptr<SqliteRoutines> second;

[[noreturn]] void fail_to_load() {
  const char* reason = dlerror();
  throw std::runtime_error(reason != nullptr ? reason : "dlopen failed");
}

std::string path_of_library(void* library) {
  link_map* map = nullptr;
  if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) fail_to_load();
  return map->l_name;
}

// RTLD_DEEPBIND: without it the dynamic linker would bind the second copy's calls of its own
// exported functions to the first copy, and there would be only one SQLite after all.
constexpr int kPrivately = RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND;
constexpr const char* kLibrary = "libsqlite3.so.0";

void* open_second(const std::string& how) {
  if (how == "dlmopen") return dlmopen(LM_ID_NEWLM, kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (how == "system") return dlopen(kLibrary, kPrivately);
  if (how != "copied") throw std::runtime_error("usage: load-copy copied|dlmopen|system");
  void* original = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (original == nullptr) fail_to_load();
  const auto copy = std::filesystem::current_path() / "libsqlite3-private.so";
  std::filesystem::copy_file(path_of_library(original), copy,
                             std::filesystem::copy_options::overwrite_existing);
  return dlopen(copy.c_str(), kPrivately);
}

template <class Function>
void resolve(void* library, Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) fail_to_load();
}

}  // namespace

const SqliteRoutines& linked_sqlite() {
  static const SqliteRoutines routines = [] {
    SqliteRoutines table;
#define WALGUARD_REPRO_LINKED(name) table.name = sqlite3_##name;
    WALGUARD_REPRO_SQLITE_ROUTINES(WALGUARD_REPRO_LINKED)
#undef WALGUARD_REPRO_LINKED
    return table;
  }();
  return routines;
}

const SqliteRoutines& load_second_sqlite(const std::string& how) {
  if (second) return *second;
  void* library = open_second(how);
  if (library == nullptr) fail_to_load();
  auto table = std::make_unique<SqliteRoutines>();
#define WALGUARD_REPRO_RESOLVE(name) resolve(library, table->name, "sqlite3_" #name);
  WALGUARD_REPRO_SQLITE_ROUTINES(WALGUARD_REPRO_RESOLVE)
#undef WALGUARD_REPRO_RESOLVE
  if (table->open_v2 == sqlite3_open_v2) {
    throw std::runtime_error("the second copy of SQLite is the first one");
  }
  second = std::move(table);
  return *second;
}

const SqliteRoutines* second_sqlite() { return second.get(); }

}  // namespace walguard::repro
