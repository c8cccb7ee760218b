#include "sotto/ledger/backend/detail/sqlite_vfs.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <sqlite3.h>

#include <array>
#include <cstring>
#include <fstream>
#include <mutex>
#include <vector>

#include "sotto/core/error.hpp"

namespace sotto::ledger {
namespace {

FaultHook fault_hook;

int fault(const char* operation, const char* file) {
  return fault_hook ? fault_hook(operation, file == nullptr ? "" : file) : SQLITE_OK;
}

std::array<unsigned char, kPageDigest> digest_of(const void* page, sqlite3_int64 offset) {
  std::array<unsigned char, 8 + kPageSize - kPageDigest> input{};
  std::memcpy(input.data(), &offset, sizeof offset);
  std::memcpy(input.data() + 8, page, kPageSize - kPageDigest);
  std::array<unsigned char, 32> full{};
  unsigned length = 0;
  if (EVP_Digest(input.data(), input.size(), full.data(), &length, EVP_sha256(), nullptr) != 1)
    invariant_broken("OpenSSL refuses SHA-256");
  std::array<unsigned char, kPageDigest> head{};
  std::memcpy(head.data(), full.data(), head.size());
  return head;
}

bool page_is_whole(const void* page, sqlite3_int64 offset) {
  const auto wanted = digest_of(page, offset);
  return std::memcmp(wanted.data(),
                     static_cast<const unsigned char*>(page) + kPageSize - kPageDigest,
                     wanted.size()) == 0;
}

bool is_page(int amount, sqlite3_int64 offset) {
  return amount == kPageSize && offset % kPageSize == 0;
}

struct File {
  sqlite3_file base;
  const char* name;
  bool database;  // the main file, not the log
  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};
File* own(sqlite3_file* f) { return reinterpret_cast<File*>(f); }
sqlite3_vfs* system_vfs() { return sqlite3_vfs_find(nullptr); }

// Forwards a method of sqlite3_io_methods to the system's file.
#define SOTTO_FORWARD(method, ...) \
  own(f)->real()->pMethods->method(own(f)->real() __VA_OPT__(, ) __VA_ARGS__)

int file_close(sqlite3_file* f) { return SOTTO_FORWARD(xClose); }
int file_read(sqlite3_file* f, void* to, int amount, sqlite3_int64 offset) {
  const int code = SOTTO_FORWARD(xRead, to, amount, offset);
  if (code == SQLITE_OK && own(f)->database && is_page(amount, offset) &&
      !page_is_whole(to, offset))
    return SQLITE_IOERR_DATA;
  return code;
}
int file_write(sqlite3_file* f, const void* from, int amount, sqlite3_int64 offset) {
  if (const int code = fault("write", own(f)->name)) return code;
  if (!own(f)->database || !is_page(amount, offset))
    return SOTTO_FORWARD(xWrite, from, amount, offset);
  std::array<unsigned char, kPageSize> page{};
  std::memcpy(page.data(), from, kPageSize - kPageDigest);
  const auto digest = digest_of(page.data(), offset);
  std::memcpy(page.data() + kPageSize - kPageDigest, digest.data(), digest.size());
  return SOTTO_FORWARD(xWrite, page.data(), amount, offset);
}
int file_truncate(sqlite3_file* f, sqlite3_int64 size) {
  if (const int code = fault("truncate", own(f)->name)) return code;
  return SOTTO_FORWARD(xTruncate, size);
}
int file_sync(sqlite3_file* f, int flags) {
  if (const int code = fault("sync", own(f)->name)) return code;
  return SOTTO_FORWARD(xSync, flags);
}
int file_size(sqlite3_file* f, sqlite3_int64* size) { return SOTTO_FORWARD(xFileSize, size); }
int file_lock(sqlite3_file* f, int kind) { return SOTTO_FORWARD(xLock, kind); }
int file_unlock(sqlite3_file* f, int kind) { return SOTTO_FORWARD(xUnlock, kind); }
int file_reserved(sqlite3_file* f, int* out) { return SOTTO_FORWARD(xCheckReservedLock, out); }
int file_control(sqlite3_file* f, int op, void* arg) {
  return SOTTO_FORWARD(xFileControl, op, arg);
}
int file_sector(sqlite3_file* f) { return SOTTO_FORWARD(xSectorSize); }
int file_traits(sqlite3_file* f) { return SOTTO_FORWARD(xDeviceCharacteristics); }
int file_shm_map(sqlite3_file* f, int i, int size, int extend, void volatile** out) {
  return SOTTO_FORWARD(xShmMap, i, size, extend, out);
}
int file_shm_lock(sqlite3_file* f, int offset, int n, int flags) {
  return SOTTO_FORWARD(xShmLock, offset, n, flags);
}
void file_shm_barrier(sqlite3_file* f) { SOTTO_FORWARD(xShmBarrier); }
int file_shm_unmap(sqlite3_file* f, int remove) { return SOTTO_FORWARD(xShmUnmap, remove); }

// Version 2: without memory mapping, which would read pages past us.
const sqlite3_io_methods kMethods = {
    2,           file_close,   file_read,     file_write,       file_truncate,  file_sync,
    file_size,   file_lock,    file_unlock,   file_reserved,    file_control,   file_sector,
    file_traits, file_shm_map, file_shm_lock, file_shm_barrier, file_shm_unmap, nullptr,
    nullptr};

int vfs_open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  File* f = own(file);
  *f = {};
  f->name = name;
  f->database = (flags & SQLITE_OPEN_MAIN_DB) != 0;
  const int code = system_vfs()->xOpen(system_vfs(), name, f->real(), flags, out_flags);
  // SQLite closes what has methods, also after a failure.
  if (f->real()->pMethods != nullptr) f->base.pMethods = &kMethods;
  return code;
}

int vfs_delete(sqlite3_vfs*, const char* name, int sync) {
  if (const int code = fault("delete", name)) return code;
  return system_vfs()->xDelete(system_vfs(), name, sync);
}

}  // namespace

const char* sqlite_vfs() {
  static std::once_flag once;
  static sqlite3_vfs vfs;
  std::call_once(once, [] {
    vfs = *system_vfs();  // everything that is not about bytes stays the system's
    vfs.zName = "sotto";
    vfs.pNext = nullptr;
    vfs.szOsFile = static_cast<int>(sizeof(File)) + system_vfs()->szOsFile;
    vfs.xOpen = vfs_open;
    vfs.xDelete = vfs_delete;
    if (sqlite3_vfs_register(&vfs, 0) != SQLITE_OK) invariant_broken("SQLite refuses a VFS");
  });
  return vfs.zName;
}

void check_pages(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw StorageError(fmt::format("cannot read '{}'", path));
  std::vector<char> page(kPageSize);
  constexpr std::int64_t kLockPage = 0x40000000;  // SQLite never writes this one
  for (std::int64_t offset = 0; file.read(page.data(), kPageSize) || file.gcount() > 0;
       offset += kPageSize) {
    if (file.gcount() != kPageSize || (offset != kLockPage && !page_is_whole(page.data(), offset)))
      throw VerificationFailed(
          fmt::format("page {} of '{}' was changed or is damaged", offset / kPageSize + 1, path),
          "restore the store from a copy whose head you pinned");
    if (offset == 0) {  // bytes 28 to 31 of the header count the pages
      const auto* b = reinterpret_cast<const unsigned char*>(page.data()) + 28;
      const std::int64_t pages = b[0] << 24 | b[1] << 16 | b[2] << 8 | b[3];
      file.seekg(0, std::ios::end);
      if (file.tellg() != pages * kPageSize)
        throw VerificationFailed(fmt::format("'{}' has {} bytes, but its header says {}", path,
                                             static_cast<std::int64_t>(file.tellg()),
                                             pages * kPageSize));
      file.seekg(kPageSize);
    }
  }
}

void set_sqlite_fault(FaultHook hook) { fault_hook = std::move(hook); }

}  // namespace sotto::ledger
