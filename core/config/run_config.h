#pragma once

#include "core/config/choices.h"

#include <cstdint>
#include <string>
#include <vector>

namespace furrow {

/// Everything a person decides about a run. A plain value: copied into a job when it starts, frozen in run.json.
/// Meaning, unit, range and help of each field live in schema.cpp and nowhere else.
struct RunConfig {
    std::string name;

    // Data
    std::vector<std::string> data;
    DataMode dataMode = DataMode::Auto;
    std::string textColumn;
    std::string chatTemplate;
    LearntTurns chatLoss = LearntTurns::All;
    LongSamples longSamples = LongSamples::Split;
    DocumentMasks documentMasks = DocumentMasks::Auto;
    Packing packing = Packing::Auto;
    std::string encoding = "auto";
    std::string csvDelimiter = "auto";
    std::string csvQuote = "auto";
    std::string csvEscape = "auto";
    bool csvHeader = true;
    std::string tokenizer = "byte";
    std::int64_t samplesPerBlock = 100000;
    std::int64_t chunkSamples = 4000;
    std::int64_t chunkBytes = 64 << 20;
    std::int64_t spanBytes = 512;
    double heldOutPercent = 0.5;
    std::string evalData;
    std::int64_t minChars = 1;
    std::int64_t maxChars = 0;
    bool asciiOnly = false;
    Duplicates duplicates = Duplicates::Report;
    BadFiles badFiles = BadFiles::Stop;
    double maxUnreadablePercent = 1; ///< of the rows read so far; 100: no limit
    std::int64_t shuffleWindowBlocks = 24;
    bool shuffle = true;
    std::string startAt; ///< "BLOCK:CHUNK" or empty; see core/config/chunk_name.h
    std::int64_t startSample = 0;
    std::int64_t maxSamples = 0;
    double fraction = 1;
    std::vector<std::string> dataWeights;
    std::string exclude;
    double cacheGiB = 20;
    std::int64_t prepareAheadBlocks = 4;
    std::int64_t transfers = 4;

    // Model
    Architecture architecture = Architecture::Gpt;
    std::int64_t layers = 4;
    std::int64_t heads = 4;
    std::int64_t kvHeads = 0;
    std::int64_t width = 128;
    std::int64_t ffWidth = 0;
    std::int64_t seqLen = 64;
    Positions positions = Positions::Learned;
    double ropeTheta = 1e4;
    NormKind norm = NormKind::LayerNorm;
    double normEpsilon = 1e-5;
    FeedForward activation = FeedForward::Gelu;
    bool bias = true;
    bool tiedHead = true;
    double dropout = 0;
    std::int64_t moeExperts = 0;
    std::int64_t moeActive = 2;
    std::int64_t hrmLowLayers = 0;
    double hrmExpansion = 2;
    std::int64_t hrmHighCycles = 2;
    std::int64_t hrmLowCycles = 2;
    std::int64_t hrmSegments = 2;
    double hrmExploration = 0.1;
    std::string shape; ///< JSON, see shapeJson() in core/model/model_config.h; empty: the settings above
    std::string initFrom;
    ParentChunks parentChunks = ParentChunks::Again;
    std::int64_t loraRank = 0;
    double loraAlpha = 0;

    // Training
    Objective objective = Objective::NextToken;
    double dpoBeta = 0.1;
    DpoNormalise dpoNormalise = DpoNormalise::None;
    std::int64_t batchSize = 12;
    std::int64_t gradAccum = 1;
    double lr = 1e-3;
    double minLr = 1e-4;
    std::int64_t warmupSteps = 100;
    ScheduleKind schedule = ScheduleKind::Cosine;
    std::int64_t decayTokens = 0;
    bool adaptiveLr = false;
    double emaDecay = 0;
    PrecisionChoice precision = PrecisionChoice::Auto;
    bool tf32 = true;
    AttentionKernel attention = AttentionKernel::Auto;
    bool cudaGraph = false;
    bool recompute = false;

    // Optimiser
    OptimizerKind optimizer = OptimizerKind::AdamW;
    double weightDecay = 0.1;
    double beta1 = 0.9;
    double beta2 = 0.99;
    double epsilon = 1e-8;
    double clip = 1.0;
    std::int64_t nanLimit = 5;

    // Privacy
    double clipPerSample = 0;
    double noiseMultiplier = 0;
    PrivacyUnit privacyUnit = PrivacyUnit::Window;
    double targetDelta = 0;
    double targetEpsilon = 0;

    // Devices
    std::string devices = "auto";
    std::int64_t workers = 0;
    std::int64_t threads = 0;
    ParallelMode parallel = ParallelMode::Independent;
    std::int64_t rankTimeout = 120;
    std::int64_t maxRestarts = 5;

    // Stop and save
    std::int64_t steps = 0;
    std::int64_t tokens = 0;
    double hours = 0;
    std::int64_t epochs = 1;
    bool stopAfterEpoch = false;
    std::int64_t stopAfterBlocks = 0;
    bool iterate = false;
    double checkpointMinutes = 5;
    std::int64_t checkpointSteps = 0;
    std::int64_t keepLast = 3;

    // Evaluation and sampling
    std::int64_t evalSteps = 250;
    std::int64_t evalBatches = 20;
    std::string evalTasks;
    std::int64_t evalTasksLimit = 100;
    std::int64_t sampleSteps = 0;
    std::string samplePrompt; ///< "": a text of its own
    double expectedLoss = 0.9;
    double expectedLossFall = 0.12;
    double lossAlarm = 0.4;

    // Merging
    MergeMethod merge = MergeMethod::Average;
    std::int64_t mergeTokens = 0;
    double outerLr = 0.7;
    double outerMomentum = 0.9;

    // Seeds and determinism
    std::int64_t seed = 1337;
    bool deterministic = false;

    bool operator==(const RunConfig&) const = default;
};

} // namespace furrow
