// SPDX-License-Identifier: MIT
#include "protection.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

#include <walguard/host_sqlite.hpp>
#include <walguard/wal_guard.hpp>

namespace walguard::repro {

namespace {

class None final : public Protection {};

// These say that there is nothing to guard, which is not a failure of the guard.
bool is_nothing_to_guard(const std::error_code& code) {
  static constexpr errc kCodes[] = {errc::no_database_file,        errc::not_wal,
                                    errc::exclusive_locking_mode,  errc::immutable_database,
                                    errc::vfs_without_posix_locks, errc::hard_link};
  return std::ranges::any_of(kCodes, [&](errc known) { return code == known; });
}

class Guard final : public Protection {
 public:
  void after_open(const Connection& connection) override {
    hold(connection, connection.name(), "main");
  }

  void after_attach(const Connection& connection, const std::string& schema) override {
    hold(connection, connection.name() + "." + schema, schema);
  }

  void before_detach(const Connection& connection, const std::string& schema) override {
    release(connection.name() + "." + schema);
  }

  // Just before the close: while a guard is held nobody, this process included, can remove the
  // sidecars.
  void before_close(const Connection& connection) override {
    for (auto& [name, held] : held_) {
      if (held.connection == connection.name()) release_one(name, held);
    }
    std::erase_if(held_,
                  [&](const auto& entry) { return entry.second.connection == connection.name(); });
  }

  void after_close() override { WalGuard::collect(); }

  void hold(const Connection& connection, const std::string& name,
            const std::string& schema) override {
    attempt("hold", [&] {
      held_[name] = {walguard::hold(connection.handle(), schema.c_str()), {}, connection.name()};
      if (held_[name].guard.state() != GuardState::guarded) {
        evidence_.emplace_back("guard-refused: hold() returned a guard that does not guard");
      }
    });
  }

  void release(const std::string& name) override {
    const auto found = held_.find(name);
    if (found == held_.end()) return;
    release_one(name, found->second);
    held_.erase(found);
  }

  void refresh(const std::string& connection) override {
    for (auto& [name, held] : held_) {
      if (held.connection == connection)
        attempt("refresh", [&, &guard = held.guard] { guard.refresh(); });
    }
  }

  void pause(const std::string& connection) override {
    for (auto& [name, held] : held_) {
      if (held.connection == connection) {
        attempt("pause", [&, &state = held] { state.pause = state.guard.pause(); });
      }
    }
  }

  void unpause(const std::string& connection) override {
    for (auto& [name, held] : held_) {
      if (held.connection == connection) attempt("resume", [&, &p = held.pause] { p.resume(); });
    }
  }

 private:
  struct Held {
    WalGuard guard;
    Pause pause;
    std::string connection;
  };

  void release_one(const std::string& name, Held& held) {
    std::error_code error;
    held.guard.release(error);
    if (error) notes_.push_back("release " + name + ": " + error.message());
  }

  template <class Call>
  void attempt(const char* what, Call call) {
    try {
      call();
    } catch (const Error& error) {
      const auto told = std::string(what) + ": " + error.what();
      if (is_nothing_to_guard(error.code())) {
        notes_.push_back(told);
      } else {
        evidence_.push_back("guard-refused: " + told);
      }
    }
  }

  std::map<std::string, Held> held_;
};

}  // namespace

std::unique_ptr<Protection> make_protection(std::string_view name) {
  // A sabotaged guard is none that claims to be one.
  if (name == "none" || name == "sabotaged") return std::make_unique<None>();
  if (name == "guard") return std::make_unique<Guard>();
  throw std::runtime_error("no protection is called '" + std::string(name) + "'");
}

}  // namespace walguard::repro
