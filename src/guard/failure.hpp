// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>

#include "walguard/error.hpp"

namespace walguard::guard {

[[noreturn]] inline void fail(errc code, std::string operation, std::string path,
                              std::string advice = {}, int os_error = 0) {
  throw Error(code, {.operation = std::move(operation),
                     .path = std::move(path),
                     .advice = std::move(advice),
                     .range = {},
                     .holder_pid = {},
                     .os_error = os_error});
}

}  // namespace walguard::guard
