// SPDX-License-Identifier: MIT
//
// walguard-bench [--quick] [--json FILE] [--dir DIRECTORY]: what the guard costs, against the
// system calls that it cannot do without. Ours and the floor run in turn in one process, pair by
// pair; a figure is the median of the pairs' ratios. Exits 0 whether or not the bars are met: a
// machine's load is no fault of the program's.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "bars.hpp"

int main(int argc, char** argv) {
  bool quick = false;
  std::string json;
  const char* temporary = std::getenv("TMPDIR");
  std::string above = temporary != nullptr && *temporary != '\0' ? temporary : "/tmp";
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--quick") == 0) {
      quick = true;
    } else if (std::strcmp(argv[i], "--json") == 0 && i + 1 < argc) {
      json = argv[++i];
    } else if (std::strcmp(argv[i], "--dir") == 0 && i + 1 < argc) {
      above = argv[++i];
    } else {
      std::fputs("usage: walguard-bench [--quick] [--json FILE] [--dir DIRECTORY]\n", stderr);
      return 2;
    }
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  bench::raise_descriptor_limit(20'000);
  std::vector<bench::Figure> figures;
  {
    const bench::Directory directory(above);
    const bench::Plan plan{directory, quick, [&](bench::Figure figure) {
                             std::fputs(bench::table_line(figure).c_str(), stdout);
                             figures.push_back(std::move(figure));
                           }};
    std::fputs(bench::table_head().c_str(), stdout);
    bench::many_databases(plan);
    bench::holds(plan);
    bench::refreshes(plan);
    bench::transactions(plan);
  }
  std::size_t bars = 0;
  std::size_t met = 0;
  for (const bench::Figure& figure : figures) {
    if (figure.rule == bench::Rule::none) continue;
    ++bars;
    if (figure.met()) ++met;
  }
  std::printf("%zu of %zu bars met%s\n", met, bars, quick ? " (quick: no measurement)" : "");
  if (json.empty()) return 0;
  std::FILE* out = std::fopen(json.c_str(), "w");
  if (out == nullptr) bench::give_up("open " + json);
  std::fputs(bench::json_of(figures, quick).c_str(), out);
  if (std::fclose(out) != 0) bench::give_up("write " + json);
  return 0;
}
