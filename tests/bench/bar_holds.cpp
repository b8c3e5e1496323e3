// SPDX-License-Identifier: MIT
#include <memory>
#include <thread>

#include <walguard/host_sqlite.hpp>

#include "bars.hpp"

namespace bench {
namespace {

constexpr int kManyDescriptors = 10'000;
constexpr std::size_t kManyHandles = 1'000;
constexpr double kFlat = 0.2;

std::function<void()> repeat(std::size_t times, std::function<void()> operation) {
  return [times, operation = std::move(operation)] {
    for (std::size_t i = 0; i < times; ++i) operation();
  };
}

// Puts up handles or descriptors for one side and takes them away for the other.
template <class Many>
Comparison grown(const std::function<void()>& operation, std::size_t times, std::size_t pairs,
                 const std::function<std::unique_ptr<Many>()>& make) {
  std::unique_ptr<Many> many;
  return compare({[&] {
                    many.reset();
                    many = make();
                  },
                  repeat(times, operation), times},
                 {[&] { many.reset(); }, repeat(times, operation), times}, pairs);
}

}  // namespace

void holds(const Plan& plan) {
  const Floor floor(plan.directory);
  Database resident(plan.directory.file("resident.db"));
  Database subject(plan.directory.file("subject.db"));
  Database reader(plan.directory.file("reader.db"));
  const walguard::WalGuard keeps_keeper = walguard::hold(resident.get());

  const auto first_hold = [&] { walguard::hold(subject.get()).release(); };
  constexpr std::size_t kTimes = 50;
  plan.report(
      figure_of("first hold + last release", Rule::at_most, 3,
                compare({{}, repeat(kTimes, first_hold), kTimes},
                        {{}, repeat(kTimes, [&] { floor.first_hold(reader.get()); }), kTimes},
                        plan.pairs(60))));
  const auto rest = [] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); };
  plan.report(figure_of("  the same after a rest (its thread sleeps)", Rule::none, 0,
                        compare({rest, first_hold}, {rest, [&] { floor.first_hold(reader.get()); }},
                                plan.pairs(60))));

  // A hold with its release; the floor has no release, so it is all counted as ours.
  const walguard::WalGuard first = walguard::hold(subject.get());
  const auto again = [&] { walguard::hold(subject.get()).release(); };
  const auto again_by_path = [&] { walguard::WalGuard::hold_path(subject.path()).release(); };
  constexpr std::size_t kMore = 300;
  const auto against_floor = [&](const std::function<void()>& ours) {
    return compare({{}, repeat(kMore, ours), kMore},
                   {{}, repeat(kMore, [&] { floor.hold_again(); }), kMore}, plan.pairs(60));
  };
  plan.report(figure_of("hold + release, guarded already", Rule::at_most, 3, against_floor(again)));
  plan.report(figure_of("  the same by path", Rule::at_most, 3, against_floor(again_by_path)));
  {
    const Crowd crowd(kManyDescriptors);
    plan.report(
        figure_of("  the same with 10,000 descriptors", Rule::at_most, 3, against_floor(again)));
  }
  using Guards = std::vector<walguard::WalGuard>;
  const std::function<std::unique_ptr<Guards>()> many_guards = [&] {
    auto guards = std::make_unique<Guards>();
    while (guards->size() < kManyHandles) guards->push_back(walguard::hold(subject.get()));
    return guards;
  };
  {
    const auto guards = many_guards();
    plan.report(figure_of("  the same with 1,000 handles", Rule::at_most, 3, against_floor(again)));
  }
  plan.report(figure_of("hold again: 10,000 descriptors against 10", Rule::at_most, 1 + kFlat,
                        grown<Crowd>(again, kMore, plan.pairs(31),
                                     [] { return std::make_unique<Crowd>(kManyDescriptors); })));
  plan.report(figure_of("hold again: 1,000 handles against 1", Rule::at_most, 1 + kFlat,
                        grown<Guards>(again, kMore, plan.pairs(31), many_guards)));
}

}  // namespace bench
