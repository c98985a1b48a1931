#pragma once

namespace furrow::test {

/// How long a test waits for what must come: only a failure waits so long, and a busy machine must not be one.
inline constexpr int kPatienceMs = 60'000;

} // namespace furrow::test
