// SPDX-License-Identifier: MIT
#pragma once

#include <cerrno>
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

// A system call failed.
[[noreturn]] inline void fail_io(std::string operation, std::string path, int os_error) {
  const errc code = os_error == EMFILE || os_error == ENFILE ? errc::descriptor_limit
                    : os_error == ENOMEM                     ? errc::out_of_memory
                                                             : errc::io_error;
  fail(code, std::move(operation), std::move(path), {}, os_error);
}

}  // namespace walguard::guard
