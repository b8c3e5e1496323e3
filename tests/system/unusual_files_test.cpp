// SPDX-License-Identifier: MIT
#define BOOST_TEST_MODULE unusual_files
#define BOOST_TEST_NO_MAIN
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "processes.hpp"
#include "walguard/host_sqlite.hpp"

namespace {

using namespace walguard;
using namespace walguard::test;

// A VFS that scrambles the first 16 bytes of the database, as an encrypting one does to all of it:
// whoever decides by the header takes such a file for something else.
constexpr int kScrambled = 16;
sqlite3_vfs* unix_vfs = nullptr;

struct ScrambledFile {
  sqlite3_file base;
  sqlite3_file* real;
};
sqlite3_file* real_of(sqlite3_file* file) { return reinterpret_cast<ScrambledFile*>(file)->real; }

void scramble(void* bytes, int size, sqlite3_int64 offset) {
  auto* data = static_cast<unsigned char*>(bytes);
  for (int i = 0; i < size && offset + i < kScrambled; ++i) data[i] ^= 0xa5U;
}

sqlite3_io_methods scrambling_methods() {
  sqlite3_io_methods m{};
  m.iVersion = 2;
  m.xClose = [](sqlite3_file* f) { return real_of(f)->pMethods->xClose(real_of(f)); };
  m.xRead = [](sqlite3_file* f, void* data, int size, sqlite3_int64 offset) {
    const int code = real_of(f)->pMethods->xRead(real_of(f), data, size, offset);
    if (code == SQLITE_OK) scramble(data, size, offset);
    return code;
  };
  m.xWrite = [](sqlite3_file* f, const void* data, int size, sqlite3_int64 offset) {
    std::string copy(static_cast<const char*>(data), static_cast<std::size_t>(size));
    scramble(copy.data(), size, offset);
    return real_of(f)->pMethods->xWrite(real_of(f), copy.data(), size, offset);
  };
  m.xTruncate = [](sqlite3_file* f, sqlite3_int64 size) {
    return real_of(f)->pMethods->xTruncate(real_of(f), size);
  };
  m.xSync = [](sqlite3_file* f, int flags) {
    return real_of(f)->pMethods->xSync(real_of(f), flags);
  };
  m.xFileSize = [](sqlite3_file* f, sqlite3_int64* size) {
    return real_of(f)->pMethods->xFileSize(real_of(f), size);
  };
  m.xLock = [](sqlite3_file* f, int level) {
    return real_of(f)->pMethods->xLock(real_of(f), level);
  };
  m.xUnlock = [](sqlite3_file* f, int level) {
    return real_of(f)->pMethods->xUnlock(real_of(f), level);
  };
  m.xCheckReservedLock = [](sqlite3_file* f, int* result) {
    return real_of(f)->pMethods->xCheckReservedLock(real_of(f), result);
  };
  m.xFileControl = [](sqlite3_file* f, int operation, void* argument) {
    return real_of(f)->pMethods->xFileControl(real_of(f), operation, argument);
  };
  m.xSectorSize = [](sqlite3_file* f) { return real_of(f)->pMethods->xSectorSize(real_of(f)); };
  m.xDeviceCharacteristics = [](sqlite3_file* f) {
    return real_of(f)->pMethods->xDeviceCharacteristics(real_of(f));
  };
  m.xShmMap = [](sqlite3_file* f, int page, int size, int extend, void volatile** out) {
    return real_of(f)->pMethods->xShmMap(real_of(f), page, size, extend, out);
  };
  m.xShmLock = [](sqlite3_file* f, int offset, int count, int flags) {
    return real_of(f)->pMethods->xShmLock(real_of(f), offset, count, flags);
  };
  m.xShmBarrier = [](sqlite3_file* f) { real_of(f)->pMethods->xShmBarrier(real_of(f)); };
  m.xShmUnmap = [](sqlite3_file* f, int remove) {
    return real_of(f)->pMethods->xShmUnmap(real_of(f), remove);
  };
  return m;
}

int open_scrambled(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  static const sqlite3_io_methods methods = scrambling_methods();
  if ((flags & SQLITE_OPEN_MAIN_DB) == 0) {
    return unix_vfs->xOpen(unix_vfs, name, file, flags, out_flags);
  }
  auto* scrambled = reinterpret_cast<ScrambledFile*>(file);
  scrambled->real = reinterpret_cast<sqlite3_file*>(scrambled + 1);
  const int code = unix_vfs->xOpen(unix_vfs, name, scrambled->real, flags, out_flags);
  file->pMethods = code == SQLITE_OK ? &methods : nullptr;
  return code;
}

const char* scrambling_vfs() {
  static sqlite3_vfs vfs;
  if (unix_vfs == nullptr) {
    unix_vfs = sqlite3_vfs_find(nullptr);
    vfs = *unix_vfs;
    vfs.zName = "scrambling";
    vfs.szOsFile += static_cast<int>(sizeof(ScrambledFile));
    vfs.xOpen = open_scrambled;
    sqlite3_vfs_register(&vfs, 0);
  }
  return vfs.zName;
}

BOOST_AUTO_TEST_CASE(a_file_that_looks_encrypted_is_guarded) {
  Scratch scratch;
  const std::string path = scratch / "secret.db";
  sqlite3* db = nullptr;
  BOOST_REQUIRE(sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                                scrambling_vfs()) == SQLITE_OK);
  BOOST_TEST(value(db, "PRAGMA journal_mode=WAL") == "wal");
  exec(db, "CREATE TABLE t(x)");
  exec(db, "PRAGMA wal_checkpoint(TRUNCATE)");
  char header[16] = {};
  std::ifstream(path).read(header, sizeof(header));
  BOOST_TEST(std::memcmp(header, "SQLite format 3", 15) != 0);

  WalGuard guard = hold(db);
  const Pin wal(path + "-wal");
  BOOST_TEST(ofd_locks(identity_of(path)) == 1);
  BOOST_TEST((WalGuard::hold_path(path).state() == GuardState::guarded));
  stray(path);
  stray(path + "-shm");
  BOOST_TEST(exec(db, "INSERT INTO t VALUES(1)") == SQLITE_OK);
  // A visitor that knows no key fails, and closes.
  BOOST_TEST(foreign(path, {"SELECT count(*) FROM t"}).starts_with("error"));
  BOOST_TEST(wal.still_at_path());
  BOOST_TEST(guard.refresh());
  BOOST_TEST(value(db, "SELECT count(*) FROM t") == "1");
  guard.release();
  sqlite3_close(db);
  BOOST_TEST(!exists(path + "-wal"));
}

const RegisterRole jailed("jailed", [](const std::vector<std::string>& arguments) -> int {
  sqlite3* db = open_wal(arguments.at(0));
  WalGuard guard = hold(db);
  if (::chroot(arguments.at(1).c_str()) != 0 || ::chdir("/") != 0) {
    answer("may not");
    return 0;
  }
  std::error_code error;
  const bool unreachable = guard.check().verdict == Verdict::moved_or_unreachable;
  const bool refreshed = guard.refresh(error);
  answer(unreachable && refreshed && guard.state() == GuardState::guarded
             ? "guarded"
             : "lost: " + error.message());
  (void)next_order();
  ::_exit(0);
});

BOOST_AUTO_TEST_CASE(a_chroot_is_no_loss) {
  Scratch scratch;
  const std::string path = scratch / "app.db";
  std::filesystem::create_directory(scratch / "jail");
  Process program("jailed", {path, scratch / "jail"});
  const std::string said = program.line();
  if (said == "may not") {
    BOOST_TEST_MESSAGE("chroot needs root");
    BOOST_TEST(::geteuid() != 0U);
    return;
  }
  BOOST_TEST(said == "guarded");
  BOOST_TEST(ofd_locks(identity_of(path)) == 1);
  BOOST_TEST(foreign(path, {"SELECT count(*) FROM t"}) == "1");
  BOOST_TEST(exists(path + "-wal"));
}

}  // namespace
