#include "core/run/start/run_length.h"

#include "core/data/block/chunk_windows.h"
#include "core/data/source/data_manifest.h"
#include "core/data/plan/held_out.h"
#include "core/run/start/data_fit.h"

#include <algorithm>
#include <cmath>

namespace furrow {

namespace {

constexpr double kUsualCompression = 3; // of text by gzip, zstd or Parquet

/// What of a plain text file is in no sample: the end of each line, or the blank line between two paragraphs.
double bytesBetweenSamples(const RunConfig& c)
{
    if (c.dataMode == DataMode::Paragraphs)
        return 2;
    return c.dataMode == DataMode::Auto || c.dataMode == DataMode::Lines ? 1 : 0;
}

double textBytes(const DataManifest& manifest, const RunConfig& c, double bytesPerSample)
{
    const double ofPlainText = bytesPerSample > 0 ? bytesPerSample / (bytesPerSample + bytesBetweenSamples(c)) : 1;
    double bytes = 0;
    for (const auto& source : manifest.sources) {
        for (const auto& file : source.files) {
            const bool packed = file.isCompressed() || file.format.format == TextFormat::Parquet;
            bytes += static_cast<double>(file.sizeBytes) * (packed ? kUsualCompression : 1)
                * (file.format.format == TextFormat::Text ? ofPlainText : 1);
        }
    }
    return bytes;
}

/// Of a usual step: a chunk is cut into windows, and its windows into steps, with what is left over at the end of both.
double labelsPerStep(const RunConfig& c, const EpochLength& epoch, std::int64_t ranks)
{
    const double windowsPerStep = static_cast<double>(c.batchSize * c.gradAccum * ranks);
    const double window = epoch.windowFill * static_cast<double>(c.seqLen); // labels in one
    const double full = windowsPerStep * window;
    if (epoch.labelsPerSample <= 0)
        return full;
    double samples = static_cast<double>(c.chunkSamples) * (1.0 - c.heldOutPercent / 100);
    if (epoch.bytesPerSample > 0)
        samples = std::min(samples, static_cast<double>(c.chunkBytes) / epoch.bytesPerSample);
    const double labels = std::max(samples, 1.0) * epoch.labelsPerSample;
    const double windows = std::ceil(labels / window);
    return std::min(full, labels / std::ceil(windows / windowsPerStep));
}

/// What a sample of the held-out text is like; all of it 0 without one.
EpochLength lengthOfHeldOut(const Result<HeldOut>& heldOut, const RunConfig& c)
{
    EpochLength epoch;
    if (!heldOut.ok() || heldOut.value().textBytes == 0)
        return epoch;
    const auto& text = heldOut.value().text;
    const auto samples = static_cast<double>(text.count());
    const double heldOutLabels = static_cast<double>(text.tokens.size()) + samples;
    epoch.labelsPerSample = samples > 0 ? heldOutLabels / samples : 0;
    epoch.bytesPerSample = samples > 0 ? static_cast<double>(heldOut.value().textBytes) / samples : 0;
    if (packingOf(windowRules(c), !text.learnt.empty()) != Packing::EndToEnd && samples > 0)
        epoch.windowFill
            = heldOutLabels / (static_cast<double>(windowCount(text, windowRules(c))) * static_cast<double>(c.seqLen));
    return epoch;
}

/// Of a run that keeps no length: by the bytes of its files.
EpochLength lengthByBytes(const RunPaths& paths, const RunFile& file)
{
    const auto heldOut = readHeldOut(paths.evaluationFile());
    const auto manifest = readManifest(file.dataManifest);
    const auto& c = file.config;
    EpochLength epoch = lengthOfHeldOut(heldOut, c);
    if (epoch.bytesPerSample <= 0 || !manifest.ok())
        return epoch;
    double labels = textBytes(manifest.value(), c, epoch.bytesPerSample) * c.fraction * epoch.labelsPerSample
        / epoch.bytesPerSample;
    labels = std::max(0.0, labels - static_cast<double>(c.startSample) * epoch.labelsPerSample);
    if (c.maxSamples > 0 && epoch.labelsPerSample > 0)
        labels = std::min(labels,
            static_cast<double>(c.maxSamples) * static_cast<double>(manifest.value().sources.size())
                * epoch.labelsPerSample);
    epoch.labels = labels * (heldOut.value().alsoTrained ? 1.0 : 1.0 - c.heldOutPercent / 100);
    return epoch;
}

} // namespace

EpochLength judgedEpochLength(const RunPaths& paths, const RunFile& file, const DataLook& look, std::int64_t rows)
{
    constexpr std::int64_t kTelling = 50; // held-out samples; fewer are no mean
    const auto heldOut = readHeldOut(paths.evaluationFile());
    const bool tells = heldOut.ok() && !heldOut.value().alsoTrained && heldOut.value().text.count() >= kTelling;
    EpochLength epoch = tells ? lengthOfHeldOut(heldOut, file.config) : look.epoch;
    if (look.isAll || look.rows == 0)
        epoch.labels = look.epoch.labels;
    else
        epoch.labels = epoch.labelsPerSample * static_cast<double>(rows) * static_cast<double>(look.samples)
            / static_cast<double>(look.rows);
    return epoch;
}

EpochLength epochLength(const RunPaths& paths, const RunFile& file)
{
    return file.epoch.labels > 0 ? file.epoch : lengthByBytes(paths, file);
}

double labelsOfRun(
    const RunConfig& c, const EpochLength& epoch, std::int64_t samplesPerBlock, std::int64_t epochs, std::int64_t ranks)
{
    double until = 0;
    const auto sooner = [&until](double labels) {
        if (labels > 0)
            until = until > 0 ? std::min(until, labels) : labels;
    };
    sooner(static_cast<double>(c.tokens));
    sooner(static_cast<double>(c.steps) * labelsPerStep(c, epoch, ranks));
    sooner(static_cast<double>(epochs) * epoch.labels);
    sooner(static_cast<double>(c.stopAfterBlocks * samplesPerBlock) * (1.0 - c.heldOutPercent / 100)
        * epoch.labelsPerSample);
    return until;
}

} // namespace furrow
