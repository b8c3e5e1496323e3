// SPDX-License-Identifier: MIT
#include <memory>

#include <walguard/host_sqlite.hpp>

#include "bars.hpp"
#include "recorded_calls.hpp"

namespace bench {

void refreshes(const Plan& plan) {
  constexpr int kManyDescriptors = 10'000;
  constexpr std::size_t kManyHandles = 1'000;
  constexpr std::size_t kTimes = 500;
  Database subject(plan.directory.file("refreshed.db"));
  walguard::WalGuard guard = walguard::hold(subject.get());

  const RecordedCalls calls([&] { guard.refresh(); });
  const Side ours{{},
                  [&] {
                    for (std::size_t i = 0; i < kTimes; ++i) guard.refresh();
                  },
                  kTimes};
  const Side floor{{},
                   [&] {
                     for (std::size_t i = 0; i < kTimes; ++i) calls.replay();
                   },
                   kTimes};
  const auto report = [&](const char* name) {
    plan.report(figure_of(name, Rule::at_most, 1.5, compare(ours, floor, plan.pairs(60)),
                          "its calls: " + calls.list()));
  };
  report("refresh, nothing strayed");
  plan.report(count_of("  system calls that are no stat, fstat or fcntl", calls.others(), 0));

  std::unique_ptr<Crowd> crowd = std::make_unique<Crowd>(kManyDescriptors);
  report("  the same with 10,000 descriptors");
  crowd.reset();
  std::vector<walguard::WalGuard> guards;
  const auto more = [&] {
    while (guards.size() < kManyHandles) guards.push_back(walguard::hold(subject.get()));
  };
  more();
  report("  the same with 1,000 handles");
  guards.clear();

  plan.report(figure_of("refresh: 10,000 descriptors against 10", Rule::at_most, 1.2,
                        compare({[&] {
                                   crowd.reset();
                                   crowd = std::make_unique<Crowd>(kManyDescriptors);
                                 },
                                 ours.run, kTimes},
                                {[&] { crowd.reset(); }, ours.run, kTimes}, plan.pairs(31))));
  crowd.reset();
  plan.report(figure_of("refresh: 1,000 handles against 1", Rule::at_most, 1.2,
                        compare({more, ours.run, kTimes},
                                {[&] { guards.clear(); }, ours.run, kTimes}, plan.pairs(31))));
}

}  // namespace bench
