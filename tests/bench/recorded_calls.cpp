// SPDX-License-Identifier: MIT
#include "recorded_calls.hpp"

#include <sys/stat.h>

#include <algorithm>

#include "os/syscalls.hpp"

namespace bench {
namespace {

using walguard::os::real_syscalls;
using walguard::os::Syscalls;

std::vector<RecordedCalls::Call>* calls = nullptr;
int other_calls = 0;

int note_stat(const char* path, struct stat* out) {
  calls->push_back({RecordedCalls::Call::stat, path, -1, 0, {}});
  return real_syscalls().stat(path, out);
}
int note_fstat(int fd, struct stat* out) {
  calls->push_back({RecordedCalls::Call::fstat, {}, fd, 0, {}});
  return real_syscalls().fstat(fd, out);
}
int note_fcntl(int fd, int command, struct flock* lock) {
  calls->push_back({RecordedCalls::Call::fcntl, {}, fd, command, *lock});
  return real_syscalls().fcntl_lock(fd, command, lock);
}

// Counts a call of any other member and passes it on.
template <auto Member>
struct Other;
template <class Result, class... Arguments, Result (*Syscalls::*Member)(Arguments...)>
struct Other<Member> {
  static Result call(Arguments... arguments) {
    ++other_calls;
    return (real_syscalls().*Member)(arguments...);
  }
};
template <auto Member>
void count(Syscalls& table) {
  table.*Member = Other<Member>::call;
}

Syscalls recording_table() {
  Syscalls table = real_syscalls();
  table.stat = note_stat;
  table.fstat = note_fstat;
  table.fcntl_lock = note_fcntl;
  count<&Syscalls::open>(table);
  count<&Syscalls::close>(table);
  count<&Syscalls::read>(table);
  count<&Syscalls::getdents>(table);
  count<&Syscalls::readlink>(table);
  count<&Syscalls::realpath>(table);
  count<&Syscalls::ioctl>(table);
  count<&Syscalls::compare_files>(table);
  count<&Syscalls::getpid>(table);
  count<&Syscalls::gettid>(table);
  return table;
}

}  // namespace

RecordedCalls::RecordedCalls(const std::function<void()>& code) {
  static const Syscalls table = recording_table();
  calls = &calls_;
  other_calls = 0;
  walguard::os::replace_syscalls(table);
  code();
  walguard::os::replace_syscalls(real_syscalls());
  others_ = other_calls;
}

void RecordedCalls::replay() const {
  for (const Call& call : calls_) {
    struct stat info {};
    switch (call.kind) {
      case Call::stat: (void)::stat(call.path.c_str(), &info); break;
      case Call::fstat: (void)::fstat(call.fd, &info); break;
      case Call::fcntl: {
        struct flock lock = call.lock;
        (void)::fcntl(call.fd, call.command, &lock);
        break;
      }
    }
  }
}

std::string RecordedCalls::list() const {
  const auto number = [this](Call::Kind kind) {
    return std::to_string(std::count_if(calls_.begin(), calls_.end(),
                                        [kind](const Call& call) { return call.kind == kind; }));
  };
  return number(Call::stat) + " stat, " + number(Call::fstat) + " fstat, " + number(Call::fcntl) +
         " fcntl, " + std::to_string(others_) + " others";
}

}  // namespace bench
