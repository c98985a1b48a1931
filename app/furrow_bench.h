#pragma once

#include <string>

/// Measures the interface, prints one line a figure, and writes them as JSON where wanted. Needs a QApplication.
/// @return exit code: 0 measured, 1 a file could not be written, 2 unknown name
int runConsoleBench(const std::string& name, const std::string& jsonFile);
