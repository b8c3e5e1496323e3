// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "walguard/events.hpp"

namespace walguard::os {

// Passes the events to every sink. Call it with no mutex held. Never throws: an event that cannot
// be delivered for want of memory is dropped.
void deliver(const std::vector<Event>& events) noexcept;

}  // namespace walguard::os
