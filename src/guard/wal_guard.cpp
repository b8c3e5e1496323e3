// SPDX-License-Identifier: MIT
#include "walguard/wal_guard.hpp"

#include <chrono>
#include <new>
#include <thread>
#include <utility>

#include "guard/failure.hpp"
#include "guard/registry.hpp"
#include "guard/target.hpp"
#include "os/environment.hpp"
#include "os/fork_epoch.hpp"
#include "os/ofd_commands.hpp"
#include "os/platform.hpp"

namespace walguard {
namespace {

using guard::Handle;
using guard::Registry;

std::shared_ptr<Handle> switched_off() {
  auto handle = std::make_shared<Handle>();
  handle->epoch = os::fork_epoch();
  handle->off = true;
  return handle;
}

// A foreign exclusive lock passes: a last close, a change of the journal mode. Each try starts from
// the beginning, and no mutex is held between two.
template <typename Try>
std::shared_ptr<Handle> retry_while_busy(std::chrono::milliseconds timeout, Try attempt) {
  if (!WalGuard::supported()) guard::fail(errc::unsupported_platform, "hold", {});
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  for (;;) {
    try {
      return attempt();
    } catch (const Error& error) {
      if (error.code() != errc::lock_busy || std::chrono::steady_clock::now() >= deadline) throw;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

// A forked child's copy of a guard is its parent's: nothing is done with it, not even looked up.
bool ours(const std::shared_ptr<Handle>& handle) noexcept {
  return handle != nullptr && handle->epoch == os::fork_epoch();
}

std::error_code current_error() noexcept {
  try {
    throw;
  } catch (const std::system_error& error) {
    return error.code();
  } catch (const std::bad_alloc&) {
    return errc::out_of_memory;
  } catch (...) {
    return errc::io_error;
  }
}

}  // namespace

WalGuard::WalGuard() noexcept = default;
WalGuard::WalGuard(std::shared_ptr<Handle> handle) noexcept : handle_(std::move(handle)) {}
WalGuard::WalGuard(WalGuard&&) noexcept = default;
WalGuard& WalGuard::operator=(WalGuard&& other) noexcept {
  if (this != &other) {
    release();
    handle_ = std::move(other.handle_);
  }
  return *this;
}
WalGuard::~WalGuard() { release(); }

WalGuard WalGuard::hold(const SqliteApi& sqlite, sqlite3* db, std::string_view schema,
                        const HoldOptions& options) {
  if (os::environment().off) return WalGuard(switched_off());
  return WalGuard(retry_while_busy(options.timeout, [&] {
    Registry& registry = Registry::instance();
    const auto guarded = [&registry](const std::string& path) { return registry.guarded(path); };
    return registry.hold(guard::target_of(sqlite, db, schema, guarded));
  }));
}

WalGuard WalGuard::hold_path(std::string_view path, const HoldOptions& options) {
  if (os::environment().off) return WalGuard(switched_off());
  return WalGuard(retry_while_busy(
      options.timeout, [&] { return Registry::instance().hold(guard::target_of(path)); }));
}

bool WalGuard::refresh() { return ours(handle_) && Registry::instance().refresh(*handle_); }

bool WalGuard::refresh(std::error_code& error) noexcept {
  error.clear();
  try {
    return refresh();
  } catch (...) {
    error = current_error();
    return false;
  }
}

CheckResult WalGuard::check() const noexcept {
  try {
    if (ours(handle_)) return Registry::instance().check(*handle_);
  } catch (...) {
    // Without memory nothing could be looked at.
  }
  return {};
}

void WalGuard::release() noexcept {
  std::error_code ignored;
  release(ignored);
}

void WalGuard::release(std::error_code& error) noexcept {
  error.clear();
  if (!ours(handle_)) return;
  try {
    Registry::instance().release(*handle_, error);
  } catch (...) {
    error = current_error();
  }
}

Pause WalGuard::pause() {
  if (!ours(handle_)) guard::fail(errc::not_held, "pause", {});
  Registry::instance().pause(*handle_);
  return Pause(handle_);
}

GuardState WalGuard::state() const noexcept {
  if (!handle_) return GuardState::released;
  if (handle_->off) return GuardState::off;
  if (!ours(handle_)) return GuardState::inert;
  return Registry::instance().state(*handle_);
}

std::string WalGuard::path() const {
  if (!handle_ || !handle_->record) return {};
  return handle_->record->paths.db;
}

void WalGuard::on_connection_gone(std::function<void()> cleanup) {
  if (!ours(handle_) || handle_->off) return cleanup();
  Registry::instance().expect_gone(*handle_, std::move(cleanup));
}

bool WalGuard::supported() noexcept { return os::ofd_locks_known() && os::platform_tested(); }

Mechanism WalGuard::mechanism() noexcept {
  if (!supported() || os::environment().off) return Mechanism::none;
  return Registry::instance().mechanism();
}

std::vector<FileStatus> WalGuard::status() { return Registry::instance().status(); }

std::size_t WalGuard::collect() noexcept {
  try {
    return Registry::instance().collect();
  } catch (...) {
    return 0;
  }
}

Pause::Pause() noexcept = default;
Pause::Pause(std::shared_ptr<Handle> handle) noexcept : handle_(std::move(handle)) {}
Pause::Pause(Pause&&) noexcept = default;
Pause& Pause::operator=(Pause&& other) noexcept {
  if (this != &other) {
    Pause ending(std::move(*this));
    handle_ = std::move(other.handle_);
  }
  return *this;
}
Pause::~Pause() {
  if (!handle_) return;
  try {
    resume();
  } catch (...) {
    // Told to the event sinks by the registry.
  }
}

Resumed Pause::resume() {
  if (!handle_) return Resumed::not_held;
  const std::shared_ptr<Handle> handle = std::exchange(handle_, nullptr);
  return ours(handle) ? Registry::instance().resume(*handle) : Resumed::not_held;
}

}  // namespace walguard
