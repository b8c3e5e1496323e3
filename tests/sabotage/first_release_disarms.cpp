// SPDX-License-Identifier: MIT
// The registry as it is, but for one thing: it takes every guard for the last one of its database.
#include <atomic>
#include <cerrno>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "guard/arming_failure.hpp"
#include "guard/connection_watch.hpp"
#include "guard/failure.hpp"
#include "guard/healing.hpp"
#include "guard/registry.hpp"
#include "guard/registry_session.hpp"
#include "guard/sqlite_files.hpp"
#include "os/descriptor_table.hpp"
#include "os/fork_epoch.hpp"
#include "os/syscalls.hpp"

// "No handles" is answered yes, always. The headers are read before, so this is registry.cpp's own.
#define empty() max_size()
#include "guard/registry.cpp"
