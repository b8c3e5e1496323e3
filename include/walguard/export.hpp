// SPDX-License-Identifier: MIT
#pragma once

// Marks what the shared library exports; everything else is built with hidden visibility.
#if defined(__GNUC__)
#define WALGUARD_API __attribute__((visibility("default")))
#else
#define WALGUARD_API
#endif
