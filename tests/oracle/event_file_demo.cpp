// Writes one event file with values that tests/oracle/tensorboard_events.py knows: event_file_demo FILE

#include "core/telemetry/export.h"

#include <cstdio>

int main(int argc, char** argv)
{
    if (argc != 2)
        return 2;
    auto file = furrow::EventFileWriter::create(argv[1], 1000.5);
    for (int step = 1; file.ok() && step <= 300; ++step) {
        file.value().scalar(1000.5 + step, step, "train/loss", 1.0 / step);
        file.value().scalar(1000.5 + step, step, "train/learning_rate", 1e-3 * step);
    }
    const auto done = file.ok() ? file.value().finish() : furrow::Status(file.error());
    if (!done.ok())
        std::fprintf(stderr, "%s\n", done.error().message.c_str());
    return done.ok() ? 0 : 1;
}
