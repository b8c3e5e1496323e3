// SPDX-License-Identifier: MIT
// The steps that are about the process and its descriptors.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "../text.hpp"
#include "session.hpp"
#include "strays.hpp"

extern "C" char** environ;

namespace walguard::repro {

namespace {

// `TARGET [by=METHOD] [db=FILE]`.
struct Target {
  std::vector<std::string> files;
  std::string by = "open";
};

Target target_of(std::string_view words) {
  const auto what = take_word(words);
  Target target;
  std::string file = "test.db";
  for (const auto& word : split_words(words)) {
    if (word.starts_with("by=")) {
      target.by = word.substr(3);
    } else if (word.starts_with("db=")) {
      file = word.substr(3);
    } else {
      throw std::runtime_error("'" + word + "' is not expected here");
    }
  }
  target.files = files_of_target(what, file);
  return target;
}

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

}  // namespace

// In rollback-journal mode there are no sidecars: then there is nothing to stray on.
Answer Session::stray_step(Words words) {
  const auto target = target_of(words);
  for (const auto& path : target.files) {
    if (exists(path)) stray(path, target.by);
  }
  return {};
}

Answer Session::keep(Words words) {
  for (const auto& path : target_of(words).files) {
    if (exists(path)) kept_.push_back(keep_descriptor(path));
  }
  return {};
}

Answer Session::drop(Words) {
  for (const int fd : kept_) ::close(fd);
  kept_.clear();
  return {};
}

Answer Session::sweep(Words) {
  sweep_descriptors(control_.descriptor());
  return {};
}

Answer Session::load_copy(Words words) {
  return {SQLITE_OK, load_second_sqlite(std::string(words)).libversion()};
}

Answer Session::descriptors_gone(Words words) {
  const auto file = words.starts_with("db=") ? std::string(words.substr(3)) : "test.db";
  for (const auto* suffix : {"-wal", "-shm"}) {
    const int count = count_descriptors(file + suffix);
    if (count > 0) {
      evidence_.push_back("descriptors-left: " + std::to_string(count) + " of " + file + suffix);
    }
  }
  return {};
}

Answer Session::hold(Words words) {
  auto& connection = connection_of(words);
  auto name = connection.name();
  std::string schema = "main";
  for (const auto& word : split_words(words)) {
    if (word.starts_with("as=")) name = word.substr(3);
    if (word.starts_with("schema=")) schema = word.substr(7);
  }
  protection_->hold(connection, name, schema);
  return {};
}

Answer Session::release(Words words) {
  const auto name = take_name(words);
  protection_->release(words.empty() ? name : std::string(words));
  return {};
}

Answer Session::refresh(Words words) {
  protection_->refresh(take_name(words));
  return {};
}

Answer Session::pause(Words words) {
  protection_->pause(take_name(words));
  return {};
}

Answer Session::unpause(Words words) {
  protection_->unpause(take_name(words));
  return {};
}

// The child goes on in the same loop, over a channel of its own whose other end the parent hands to
// the harness.
Answer Session::fork_child(Words) {
  const auto channel = Control::make_pair();
  const auto pid = ::fork();
  if (pid < 0) throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
  answered_ = true;
  if (pid == 0) {
    ::close(channel.harness);
    control_.replace(channel.actor);
    return {};
  }
  ::close(channel.actor);
  reply({}, channel.harness, pid);
  ::close(channel.harness);
  return {};
}

// Another program, started by this one: it inherits what is not close-on-exec.
Answer Session::spawn_child(Words) {
  const auto channel = Control::make_pair();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, channel.actor, 3);
  std::string name = "walguard-repro-actor";
  char* arguments[] = {name.data(), nullptr};
  pid_t pid = 0;
  const int error = ::posix_spawn(&pid, "/proc/self/exe", &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(channel.actor);
  if (error != 0) throw std::runtime_error(std::string("posix_spawn: ") + std::strerror(error));
  reply({}, channel.harness, pid);
  answered_ = true;
  ::close(channel.harness);
  return {};
}

Answer Session::end(Words) {
  close_everything();
  reply({});
  std::exit(0);
}

// exit() runs the destructors, which close what is open.
Answer Session::leave(Words) {
  reply({});
  std::exit(0);
}

Answer Session::quit(Words) {
  reply({});
  ::_exit(0);
}

Answer Session::ready(Words) { return {}; }

// The harness asks the parent how a child of it ended.
Answer Session::reap(Words words) {
  int status = 0;
  const auto pid = std::stoi(std::string(words));
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) throw std::runtime_error(std::string("waitpid: ") + std::strerror(errno));
  }
  return {SQLITE_OK, std::to_string(status)};
}

}  // namespace walguard::repro
