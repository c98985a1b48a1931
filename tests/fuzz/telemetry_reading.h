#pragma once

#include "core/telemetry/snapshot.h"

#include <string>

/// Walks everything that the console asks of telemetry.
void readWhole(const furrow::TelemetrySnapshot& snapshot);
/// Lines of a worker: header, steps, one of each other kind.
std::string telemetrySeed(int steps);
