// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace walguard::repro {

// The rows that anybody's COMMIT acknowledged, in the order in which the harness was told. A rowid
// that two commits were acknowledged for counts twice: then one of the two rows is lost.
class Ledger {
 public:
  // `acknowledged` is an actor's list of [file, table, rowid, +1 or -1].
  void add(const nlohmann::json& acknowledged);
  [[nodiscard]] static bool touches(const nlohmann::json& acknowledged, const std::string& file);

  [[nodiscard]] std::vector<std::string> files() const;
  [[nodiscard]] long long acknowledged(const std::string& file) const;

  // The rows of `file` that are not in `rows`, table name -> list of rowids.
  [[nodiscard]] std::vector<std::string> missing(const std::string& file,
                                                 const nlohmann::json& rows) const;

 private:
  using Rows = std::map<long long, int>;
  std::map<std::string, std::map<std::string, Rows>> files_;
};

}  // namespace walguard::repro
