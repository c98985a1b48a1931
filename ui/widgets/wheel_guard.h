#pragma once

namespace furrow {

/// From now on the wheel changes the value of a list or a number only where a person is at work in it: over all others
/// it scrolls the page, so that reading changes no setting. Called again it does nothing. GUI thread.
void guardWheel();

} // namespace furrow
