// SPDX-License-Identifier: MIT
#include "os/fork_epoch.hpp"

#include <pthread.h>

#include <atomic>
#include <new>

#include "os/syscalls.hpp"

namespace walguard::os {
namespace {

using Cell = std::atomic<std::uint64_t>;

std::atomic<std::uint64_t> last_epoch{1};
Cell fallback_cell{1};

void forget_epoch_in_child() { fallback_cell.store(0, std::memory_order_relaxed); }

Cell* make_cell() {
  // The real table: this runs once, possibly before a test has put its own in place.
  if (void* page = real_syscalls().wipe_on_fork_page(); page != nullptr) return new (page) Cell(1);
  // Without the page _Fork() and raw clone() go unnoticed.
  ::pthread_atfork(nullptr, nullptr, forget_epoch_in_child);
  return &fallback_cell;
}

Cell& cell() noexcept {
  static Cell* const instance = make_cell();
  return *instance;
}

// Made when the library is loaded, so that no fork can fall into the making.
[[maybe_unused]] const Cell& made_at_load = cell();

}  // namespace

std::uint64_t fork_epoch() noexcept {
  Cell& current = cell();
  std::uint64_t epoch = current.load(std::memory_order_acquire);
  if (epoch != 0) return epoch;
  // A child. Its copy of last_epoch is the parent's, so the next number differs from the parent's.
  const std::uint64_t mine = last_epoch.fetch_add(1, std::memory_order_relaxed) + 1;
  if (current.compare_exchange_strong(epoch, mine, std::memory_order_acq_rel)) return mine;
  return epoch;
}

}  // namespace walguard::os
