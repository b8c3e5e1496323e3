// SPDX-License-Identifier: MIT
#include "control.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace walguard::repro {

namespace {

constexpr int kControlFloor = 500;

int moved_up(int fd) {
  const int moved = ::fcntl(fd, F_DUPFD_CLOEXEC, kControlFloor);
  if (moved < 0) throw std::runtime_error(std::string("control channel: ") + std::strerror(errno));
  ::close(fd);
  return moved;
}

}  // namespace

Control::Control(int fd) : fd_(moved_up(fd)) {}

std::optional<std::string> Control::read_line() {
  while (true) {
    const auto end = buffer_.find('\n');
    if (end != std::string::npos) {
      auto line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return line;
    }
    std::array<char, 4096> chunk{};
    const auto count = ::read(fd_, chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return std::nullopt;
    buffer_.append(chunk.data(), static_cast<std::size_t>(count));
  }
}

void Control::write_line(const std::string& line, int attached) const {
  const auto text = line + "\n";
  std::size_t sent = 0;
  while (sent < text.size()) {
    iovec piece{const_cast<char*>(text.data()) + sent, text.size() - sent};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> space{};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    if (attached >= 0 && sent == 0) {
      message.msg_control = space.data();
      message.msg_controllen = space.size();
      auto* header = CMSG_FIRSTHDR(&message);
      header->cmsg_level = SOL_SOCKET;
      header->cmsg_type = SCM_RIGHTS;
      header->cmsg_len = CMSG_LEN(sizeof(int));
      std::memcpy(CMSG_DATA(header), &attached, sizeof(int));
    }
    const auto count = ::sendmsg(fd_, &message, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) ::_exit(3);
    sent += static_cast<std::size_t>(count);
  }
}

void Control::replace(int fd) {
  ::close(fd_);
  fd_ = moved_up(fd);
  buffer_.clear();
}

ChannelPair Control::make_pair() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw std::runtime_error(std::string("socketpair: ") + std::strerror(errno));
  }
  return {moved_up(ends[0]), moved_up(ends[1])};
}

}  // namespace walguard::repro
