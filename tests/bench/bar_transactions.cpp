// SPDX-License-Identifier: MIT
#include <walguard/host_sqlite.hpp>

#include "bars.hpp"

namespace bench {

// Both sides are the same database and connection, guarded and not: two files would lie on
// different blocks. A run begins with an empty WAL and has its automatic checkpoints in it.
void transactions(const Plan& plan) {
  Database subject(plan.directory.file("transactions.db"));
  sqlite3_stmt* insert = nullptr;
  if (sqlite3_prepare_v2(subject.get(), "INSERT INTO t VALUES(?1)", -1, &insert, nullptr) !=
      SQLITE_OK) {
    give_up("preparing an INSERT");
  }
  const std::size_t times = plan.quick ? 50 : 1500;
  const auto run = [&] {
    for (std::size_t i = 0; i < times; ++i) {
      sqlite3_bind_int64(insert, 1, static_cast<sqlite3_int64>(i));
      if (sqlite3_step(insert) != SQLITE_DONE) give_up("INSERT");
      sqlite3_reset(insert);
    }
  };
  const auto begin_anew = [&] {
    subject.exec("DELETE FROM t");
    subject.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  };
  walguard::WalGuard guard;
  const auto guarded = [&] {
    guard = walguard::hold(subject.get());
    begin_anew();
  };
  const auto bare = [&] {
    guard.release();
    begin_anew();
  };
  // Seconds bare / seconds guarded is the rate guarded / the rate bare.
  Comparison seen = compare({bare, run, times}, {guarded, run, times}, plan.pairs(150));
  std::swap(seen.first_us, seen.second_us);
  plan.report(figure_of("one-row transactions, rate guarded / bare", Rule::at_least, 0.98, seen));
  sqlite3_finalize(insert);
}

}  // namespace bench
