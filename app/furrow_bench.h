#pragma once

#include <string>

/// Measures the interface, prints one line a figure, and writes them as JSON where wanted. Needs a QApplication.
/// @return exit code: 0 measured, 1 a file could not be written, 2 unknown name
int runConsoleBench(const std::string& name, const std::string& jsonFile);

namespace furrow {
struct SyntheticRun;
}
/// Makes a run folder with invented telemetry and says how much. @return an exit code
int makeSyntheticRun(const std::string& folder, const furrow::SyntheticRun& run);
