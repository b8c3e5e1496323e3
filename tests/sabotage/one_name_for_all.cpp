// SPDX-License-Identifier: MIT
// Believes that every file has one name: a hard link, hence a second set of sidecars, goes unseen.
#include <sys/stat.h>

#include <cerrno>

#include "guard/file_look.hpp"
#include "os/file_identity.hpp"
#include "os/syscalls.hpp"

#define st_nlink st_nlink > 0 ? 1U : 0U
#include "guard/file_look.cpp"
