// SPDX-License-Identifier: MIT
#include "scrambled_vfs.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <vector>

// Every file is the file of the default VFS with this in front. iVersion 2: shared memory is
// forwarded, memory-mapped pages (which would be seen as they are on disk) are not offered.
namespace walguard::test {
namespace {

constexpr sqlite3_int64 kHeader = 16;
constexpr unsigned char kKey[kHeader] = {0x9e, 0x37, 0x79, 0xb9, 0x7f, 0x4a, 0x7c, 0x15,
                                         0xf3, 0x9c, 0xc0, 0x60, 0x5c, 0xed, 0xc8, 0x34};

struct File {
  sqlite3_file base;
  bool scrambled;

  [[nodiscard]] sqlite3_file* inner() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};
static_assert(sizeof(File) % alignof(sqlite3_int64) == 0);

sqlite3_vfs* default_vfs = nullptr;

File& as_file(sqlite3_file* file) { return *reinterpret_cast<File*>(file); }
sqlite3_file* inner(sqlite3_file* file) { return as_file(file).inner(); }

void scramble(void* bytes, int count, sqlite3_int64 offset) {
  const sqlite3_int64 end = std::min(offset + count, kHeader);
  for (sqlite3_int64 at = offset; at < end; ++at) {
    static_cast<unsigned char*>(bytes)[at - offset] ^= kKey[at];
  }
}

int read(sqlite3_file* file, void* bytes, int count, sqlite3_int64 offset) {
  const int code = inner(file)->pMethods->xRead(inner(file), bytes, count, offset);
  if (code == SQLITE_OK && as_file(file).scrambled) scramble(bytes, count, offset);
  return code;
}
int write(sqlite3_file* file, const void* bytes, int count, sqlite3_int64 offset) {
  const auto* from = static_cast<const unsigned char*>(bytes);
  std::vector<unsigned char> copy(from, from + count);
  if (as_file(file).scrambled) scramble(copy.data(), count, offset);
  return inner(file)->pMethods->xWrite(inner(file), copy.data(), count, offset);
}
int close(sqlite3_file* file) { return inner(file)->pMethods->xClose(inner(file)); }
int truncate(sqlite3_file* file, sqlite3_int64 size) {
  return inner(file)->pMethods->xTruncate(inner(file), size);
}
int sync(sqlite3_file* file, int flags) { return inner(file)->pMethods->xSync(inner(file), flags); }
int file_size(sqlite3_file* file, sqlite3_int64* size) {
  return inner(file)->pMethods->xFileSize(inner(file), size);
}
int lock(sqlite3_file* file, int level) { return inner(file)->pMethods->xLock(inner(file), level); }
int unlock(sqlite3_file* file, int level) {
  return inner(file)->pMethods->xUnlock(inner(file), level);
}
int check_reserved(sqlite3_file* file, int* reserved) {
  return inner(file)->pMethods->xCheckReservedLock(inner(file), reserved);
}
int file_control(sqlite3_file* file, int operation, void* argument) {
  const int code = inner(file)->pMethods->xFileControl(inner(file), operation, argument);
  if (code == SQLITE_OK && operation == SQLITE_FCNTL_VFSNAME) {
    auto** name = static_cast<char**>(argument);
    *name = sqlite3_mprintf("%s/%z", kScrambled, *name);
  }
  return code;
}
int sector_size(sqlite3_file* file) { return inner(file)->pMethods->xSectorSize(inner(file)); }
int characteristics(sqlite3_file* file) {
  return inner(file)->pMethods->xDeviceCharacteristics(inner(file));
}
int shm_map(sqlite3_file* file, int page, int size, int extend, void volatile** address) {
  return inner(file)->pMethods->xShmMap(inner(file), page, size, extend, address);
}
int shm_lock(sqlite3_file* file, int offset, int count, int flags) {
  return inner(file)->pMethods->xShmLock(inner(file), offset, count, flags);
}
void shm_barrier(sqlite3_file* file) { inner(file)->pMethods->xShmBarrier(inner(file)); }
int shm_unmap(sqlite3_file* file, int remove) {
  return inner(file)->pMethods->xShmUnmap(inner(file), remove);
}

const sqlite3_io_methods kMethods = {2,
                                     close,
                                     read,
                                     write,
                                     truncate,
                                     sync,
                                     file_size,
                                     lock,
                                     unlock,
                                     check_reserved,
                                     file_control,
                                     sector_size,
                                     characteristics,
                                     shm_map,
                                     shm_lock,
                                     shm_barrier,
                                     shm_unmap,
                                     nullptr,
                                     nullptr};

int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* opened) {
  as_file(file).base.pMethods = nullptr;
  as_file(file).scrambled = (flags & SQLITE_OPEN_MAIN_DB) != 0;
  const int code = default_vfs->xOpen(default_vfs, name, inner(file), flags, opened);
  if (inner(file)->pMethods != nullptr) as_file(file).base.pMethods = &kMethods;
  return code;
}

}  // namespace

void register_scrambled_vfs() {
  static sqlite3_vfs vfs = [] {
    default_vfs = sqlite3_vfs_find(nullptr);
    sqlite3_vfs made = *default_vfs;
    made.pNext = nullptr;
    made.szOsFile += static_cast<int>(sizeof(File));
    made.zName = kScrambled;
    made.xOpen = open;
    return made;
  }();
  sqlite3_vfs_register(&vfs, 0);
}

}  // namespace walguard::test
