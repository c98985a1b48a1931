#pragma once

namespace furrow {

// What `furrowctl storm` and the tests ask of a process through its environment. Compiled into every build, so that what is
// tested is what people run; without the variable nothing happens.
//
//   FURROW_FAIL_AT=name[:n]        die at a named place (fail_point.h)
//   FURROW_FAIL_ONCE=file          ... but only the process that can make this file: one death, and proof of it
//   FURROW_DISK_FULL=file          while that file exists, writing fails as on a full disk
//   FURROW_LEASE_S=seconds         the shortest lease of a worker, and its first one
//   FURROW_LINGER_S=seconds        a worker at its end does not exit for so long
//   FURROW_EXIT_PATIENCE_S=seconds how long the supervisor lets it
//   FURROW_WALL_OFFSET_S=seconds   added to the wall clock: a clock that someone has set wrong
//   FURROW_SKIP_SUM=n              leave the n-th sum over the ranks of a data-parallel group out
//   FURROW_COUNTING=1              train the counting model; FURROW_COUNTING_STEP_MS=ms makes its steps as slow as real ones,
//                                  a list (20,20,60) for each worker in turn

/// A number from the environment; `otherwise` when it is absent. Of a list with commas the one at `index`, or the last.
double faultNumber(const char* name, double otherwise, int index = 0);

/// Whether a write must fail now as on a full disk.
bool diskPretendsFull();

} // namespace furrow
