#pragma once

#include <chrono>
#include <functional>

namespace furrow {

/// Asked ten times a second while a connection waits until others let go of a lock, with how long it has waited: true
/// to wait on. On the thread that waits; must not use that connection.
using Patience = std::function<bool(std::chrono::milliseconds waited)>;

} // namespace furrow
