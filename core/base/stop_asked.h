#pragma once

namespace furrow {

/// Whether the StopRequest of this process, if it has one, was asked to end. For waits deep down that nobody hands one.
bool stopAsked() noexcept;
/// How often it was: whoever asks a second time wants it now.
int timesAskedToStop() noexcept;

} // namespace furrow
