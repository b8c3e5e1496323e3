// SPDX-License-Identifier: MIT
#include <sys/resource.h>

#include <algorithm>
#include <chrono>

#include <walguard/host_sqlite.hpp>

#include "bars.hpp"

namespace bench {
namespace {

using Guards = std::vector<walguard::WalGuard>;

// Seconds of each hold.
std::vector<double> hold_all(const std::vector<Database>& databases, Guards& guards) {
  std::vector<double> took;
  took.reserve(databases.size());
  for (const Database& database : databases) {
    const auto begin = std::chrono::steady_clock::now();
    guards.push_back(walguard::hold(database.get()));
    took.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return took;
}

double median_between(const std::vector<double>& values, std::size_t begin, std::size_t end) {
  const auto at = [&](std::size_t i) { return values.begin() + static_cast<std::ptrdiff_t>(i); };
  return median_of({at(begin), at(end)}).median;
}

// With room for no more than `limit` descriptors: a hold has to say so.
std::string refusal_at_limit(const std::vector<Database>& databases, rlim_t limit) {
  struct rlimit before {};
  ::getrlimit(RLIMIT_NOFILE, &before);
  struct rlimit low = before;
  low.rlim_cur = limit;
  ::setrlimit(RLIMIT_NOFILE, &low);
  Guards guards;
  std::string said = "no error";
  try {
    (void)hold_all(databases, guards);
  } catch (const walguard::Error& error) {
    said = error.code() == walguard::errc::descriptor_limit ? "" : error.what();
  }
  ::setrlimit(RLIMIT_NOFILE, &before);
  return said;
}

}  // namespace

void many_databases(const Plan& plan) {
  const std::size_t count = plan.quick ? 100 : 1000;
  constexpr std::size_t kSome = 50;
  std::vector<Database> databases;
  for (std::size_t i = 0; i < count; ++i) {
    databases.emplace_back(plan.directory.file("many-" + std::to_string(i) + ".db"));
    // What SQLite allocates for its own part of a hold, so that it is not counted as ours.
    databases.back().exec("PRAGMA locking_mode; PRAGMA schema_version; PRAGMA journal_mode");
  }
  Guards guards;
  guards.reserve(count);
  std::vector<double> ratios;
  std::vector<double> firsts;
  std::vector<double> lasts;
  const long before = resident_kib();
  const std::size_t rounds = plan.pairs(31);
  for (std::size_t round = 0; round <= rounds; ++round) {
    const std::vector<double> took = hold_all(databases, guards);
    if (round == 0) {
      const long after = resident_kib();
      plan.report(count_of("1,000 databases: resident KiB added",
                           static_cast<double>(after - before), 2048));
      // Its table has /dev/null at 0, 1 and 2 besides.
      const long descriptors = keeper_descriptors() - 3;
      plan.report(count_of("1,000 databases: descriptors for each",
                           static_cast<double>(descriptors) / static_cast<double>(count), 3));
    } else {
      firsts.push_back(median_between(took, 0, kSome));
      lasts.push_back(median_between(took, count - kSome, count));
      ratios.push_back(lasts.back() / firsts.back());
    }
    guards.clear();
  }
  plan.report({"1,000 databases: the last 50 holds / the first 50",
               Rule::within,
               0.2,
               median_of(ratios),
               median_of(lasts).median * 1e6,
               median_of(firsts).median * 1e6,
               {}});
  // Below the number that the process has open already, and with room for some in the guard's.
  std::string said = refusal_at_limit(databases, 64);
  plan.report(
      count_of("limit below what is open: hold does not say so", said.empty() ? 0 : 1, 0, said));
  const std::size_t open_here = 3 * count;
  Crowd crowd(2);
  said = refusal_at_limit(databases, open_here - 50);
  plan.report(
      count_of("limit in the guard's table: hold does not say so", said.empty() ? 0 : 1, 0, said));
}

}  // namespace bench
