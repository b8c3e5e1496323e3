// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "guard/arming.hpp"
#include "guard/record.hpp"
#include "guard/target.hpp"
#include "os/private_descriptors.hpp"
#include "walguard/events.hpp"
#include "walguard/wal_guard.hpp"

namespace walguard::guard {

// One record for each database inode that is guarded in this process, under one mutex. Looked up by
// identity (a stat, never an open) before anything is opened. Never calls SQLite with the mutex
// held, and passes events on after it is given back.
class Registry {
 public:
  // Of this process: a forked child gets an empty one and abandons its copy of the parent's, whose
  // mutex may be held for ever.
  static Registry& instance();

  [[nodiscard]] std::shared_ptr<Handle> hold(const Target& target);
  // Whether the file at the path is guarded here, and not paused.
  [[nodiscard]] bool guarded(const std::string& path);
  bool refresh(Handle& handle);
  [[nodiscard]] CheckResult check(const Handle& handle);
  void release(Handle& handle, std::error_code& error);
  void pause(Handle& handle);
  Resumed resume(Handle& handle);
  [[nodiscard]] GuardState state(const Handle& handle);
  [[nodiscard]] Mechanism mechanism() noexcept;
  [[nodiscard]] std::vector<FileStatus> status();
  std::size_t collect();
  // What every call does first: notices connections that are gone, closes what may be closed.
  void tidy();
  // The handle now belongs to a zombie connection: `after_gone` is run when its files are closed.
  void expect_gone(Handle& handle, std::function<void()> after_gone);

 private:
  class Session;
  enum class Alive { yes, descriptors_closed, gone, unknown };
  struct IdentityHash {
    std::size_t operator()(const FileIdentity& identity) const noexcept {
      return std::hash<std::uint64_t>()(identity.inode * 31 + identity.device);
    }
  };
  using RecordPtr = std::shared_ptr<Record>;

  Registry();
  [[nodiscard]] static bool current(const Handle& handle) noexcept;

  void hold_again(Session& session, const RecordPtr& known, const Target& target);
  RecordPtr hold_first(const Target& target, FileIdentity db);
  [[nodiscard]] Generation learn(const Target& target, const Paths& paths, FileIdentity db,
                                 SqliteDescriptors& sqlite);

  std::size_t settle(Session& session);
  [[nodiscard]] Alive alive(Record& record);
  [[nodiscard]] Verdict verdict(const Record& record, const PathLook& now);
  void mark_lost(Session& session, Record& record, Verdict verdict);
  void heal_record(Session& session, Record& record);
  void attach(const RecordPtr& record, const std::shared_ptr<Handle>& handle);
  void detach(Handle& handle);
  void orphan(Session& session, Handle& handle);
  void orphan_all(Session& session, Record& record);
  void drop_if_last(Session& session, const RecordPtr& record);
  Resumed rearm(Session& session, const RecordPtr& record);
  void bury(const RecordPtr& record);
  void unarm(Session& session, Record& record);

  std::mutex mutex_;
  os::PrivateDescriptors place_;
  Arming arming_{place_};
  std::unordered_map<FileIdentity, RecordPtr, IdentityHash> records_;
  std::size_t tombstones_ = 0;  // lost records without handles
  std::uint64_t seen_closed_ = 0;
  FileIdentity root_;  // of "/", to tell a chroot from a loss
  std::int64_t pid_;
};

}  // namespace walguard::guard
