// SPDX-License-Identifier: MIT
#include "ledger.hpp"

#include <algorithm>

namespace walguard::repro {

void Ledger::add(const nlohmann::json& acknowledged) {
  for (const auto& row : acknowledged) {
    files_[row[0]][row[1]][row[2].get<long long>()] += row[3].get<int>();
  }
}

bool Ledger::touches(const nlohmann::json& acknowledged, const std::string& file) {
  return std::ranges::any_of(acknowledged, [&](const auto& row) { return row[0] == file; });
}

std::vector<std::string> Ledger::files() const {
  std::vector<std::string> names;
  for (const auto& [file, tables] : files_) names.push_back(file);
  return names;
}

long long Ledger::acknowledged(const std::string& file) const {
  long long sum = 0;
  const auto found = files_.find(file);
  if (found == files_.end()) return 0;
  for (const auto& [table, rows] : found->second) {
    for (const auto& [rowid, count] : rows) sum += std::max(count, 0);
  }
  return sum;
}

std::vector<std::string> Ledger::missing(const std::string& file,
                                         const nlohmann::json& rows) const {
  std::vector<std::string> lost;
  const auto found = files_.find(file);
  if (found == files_.end()) return lost;
  for (const auto& [table, expected] : found->second) {
    Rows seen;
    if (rows.contains(table)) {
      for (const auto& rowid : rows[table]) ++seen[rowid.get<long long>()];
    }
    for (const auto& [rowid, count] : expected) {
      for (int i = seen.contains(rowid) ? seen[rowid] : 0; i < count; ++i) {
        lost.push_back(table + " rowid " + std::to_string(rowid));
      }
    }
  }
  return lost;
}

}  // namespace walguard::repro
