#include "core/train/checkpoint/checkpoint_torch.h"

#include "core/base/caught.h"
#include "core/base/check.h"
#include "core/base/fail_point.h"
#include "core/base/file_system.h"
#include "core/base/hash.h"
#include "core/base/is_there.h"
#include "core/base/path.h"
#include "core/base/random.h"
#include "core/base/room_for_tracker.h"
#include "core/base/sentence.h"
#include "core/config/json_reading.h"
#include "core/run/folder/checkpoint_manifest.h"
#include "core/run/folder/removed_weights.h"
#include "core/run/folder/checkpoint_notes.h"
#include "core/tracker/row_bounds.h"
#include "core/train/model/model_torch.h"
#include "core/train/optim/optimizer_torch.h"
#include "core/train/weights/safetensors_torch.h"

#include <nlohmann/json.hpp>
#include <torch/torch.h>

#include <algorithm>
#include <future>

namespace furrow {

namespace {

constexpr const char* kOptimizerFile = "optimizer.safetensors";

nlohmann::ordered_json membersJson(const std::vector<ReplicaState::Member>& members)
{
    auto json = nlohmann::ordered_json::array();
    for (const auto& m : members)
        json.push_back({ { "replica", m.replica }, { "own_steps", m.ownSteps }, { "own_tokens", m.ownTokens },
            { "own_samples", m.ownSamples } });
    return json;
}

std::string stateText(const ReplicaState& s)
{
    const nlohmann::ordered_json json = { { "format", kStateFormat }, { "learner", s.learner },
        { "replica", s.replica }, { "own_steps", s.ownSteps }, { "own_tokens", s.ownTokens },
        { "own_samples", s.ownSamples }, { "step", s.step }, { "tokens", s.tokens }, { "samples", s.samples },
        { "steps_since_base", s.stepsSinceBase }, { "tokens_since_base", s.tokensSinceBase }, { "base", s.base },
        { "merge_round", s.mergeRound }, { "parents", s.parents }, { "members", membersJson(s.members) },
        { "adaptive",
            { s.adaptive.factor, s.adaptive.count, s.adaptive.sum, s.adaptive.squares, s.adaptive.lastMean,
                s.adaptive.lastVariance } },
        { "spikes", { { "newest", s.spikes.newest }, { "quiet", s.spikes.quiet } } },
        { "divergence",
            { { "newest", s.divergence.newest }, { "best", s.divergence.best }, { "told", s.divergence.told } } } };
    return json.dump(1) + "\n";
}

/// Losses of a file that may come from anywhere: no more than are ever kept.
std::deque<double> newestOf(const JsonPart& json, std::size_t most)
{
    std::deque<double> losses;
    json["newest"].each([&](const JsonPart& loss) {
        if (losses.size() < most)
            losses.push_back(loss.as<double>());
    });
    return losses;
}

ReplicaState stateFrom(const JsonPart& json)
{
    ReplicaState s;
    json["learner"].to(s.learner);
    json["replica"].to(s.replica);
    json["own_steps"].to(s.ownSteps);
    json["step"].to(s.step);
    json["tokens"].to(s.tokens);
    json["samples"].to(s.samples);
    s.ownTokens = json.valueOr("own_tokens", s.tokens); // older checkpoints have no own counts
    s.ownSamples = json.valueOr("own_samples", s.samples);
    json["steps_since_base"].to(s.stepsSinceBase);
    json["tokens_since_base"].to(s.tokensSinceBase);
    json["base"].to(s.base);
    json["merge_round"].to(s.mergeRound);
    json["parents"].to(s.parents);
    if (json.has("members")) { // of a merge; older ones do not know
        json["members"].each([&](const JsonPart& m) {
            s.members.push_back({ m["replica"].as<std::int32_t>(), m["own_steps"].within(0, kTotalBounds.most),
                m["own_tokens"].within(0, kTotalBounds.most), m["own_samples"].within(0, kTotalBounds.most) });
        });
    }
    if (json.has("adaptive")) {
        const JsonPart a = json["adaptive"];
        s.adaptive = { a.at(0).as<double>(), a.at(1).as<std::int64_t>(), a.at(2).as<double>(), a.at(3).as<double>(),
            a.at(4).as<double>(), a.at(5).as<double>() };
    }
    if (json.has("spikes")) { // older checkpoints remember no losses
        s.spikes = { newestOf(json["spikes"], SpikeDetector::kWindow), json["spikes"]["quiet"].as<int>() };
        const JsonPart divergence = json["divergence"];
        s.divergence = { newestOf(divergence, DivergenceWatch::kWindow), divergence["best"].as<double>(),
            divergence["told"].as<bool>() };
    }
    return s;
}

/// One file of a folder that is being written, synced.
Status writeSynced(FileSystem& files, const std::filesystem::path& path, const std::string& text)
{
    FURROW_TRY_ASSIGN(auto file, files.create(path));
    FURROW_TRY(file->append(text.data(), text.size()));
    FURROW_TRY(file->sync());
    return file->close();
}

/// Writes one safetensors file and records size and hash. The hash is computed beside the writing, from the same
/// memory, not read back.
Status writeTensors(FileSystem& files, const std::filesystem::path& folder, const char* name,
    const NamedTensors& tensors, CheckpointManifest& manifest)
{
    const std::map<std::string, std::string> metadata { { "format", "pt" } };
    auto hashing = std::async(std::launch::async, [&] {
        Sha256 hash;
        std::uint64_t size = 0;
        (void)writeSafetensors(
            tensors, metadata, [&](const void* data, std::size_t bytes) { // what fails here fails below too
                hash.update(data, bytes);
                size += bytes;
                return Status {};
            });
        return std::pair(size, hash.hex());
    });
    const auto written = writeSafetensors(tensors, metadata, files, folder / name);
    const auto [size, hash] = hashing.get();
    FURROW_TRY(written);
    manifest.files.push_back({ name, size, hash });
    return {};
}

/// Of the manifests of the parents; none where one cannot be read now.
std::vector<std::string> parentManifests(const RunPaths& paths, const std::vector<std::string>& parents)
{
    std::vector<std::string> hashes;
    for (const auto& parent : parents)
        hashes.push_back(manifestSha256(paths, parent));
    return std::ranges::find(hashes, std::string()) == hashes.end() ? hashes : std::vector<std::string> {};
}

std::uint64_t sizeOf(const FrozenCheckpoint& frozen)
{
    std::uint64_t bytes = 0;
    for (const NamedTensors* tensors : { &frozen.weights, &frozen.optimizer })
        for (const auto& [name, tensor] : *tensors)
            bytes += tensor.nbytes();
    return bytes;
}

/// All files into `folder`; gives the hash of the manifest.
Result<std::string> fillFolder(FileSystem& files, const RunPaths& paths, const std::filesystem::path& folder,
    const std::string& runId, const FrozenCheckpoint& frozen, std::uint64_t& sizeBytes)
{
    CheckpointManifest manifest;
    manifest.runId = runId;
    manifest.kind = frozen.kind;
    manifest.replica = frozen.state.replica;
    manifest.step = frozen.state.step;
    manifest.tokens = frozen.state.tokens;
    manifest.parts = frozen.parts;
    manifest.parents = frozen.state.parents;
    manifest.parentManifests = parentManifests(paths, manifest.parents);
    manifest.frozen = frozen.frozenFile;
    manifest.writtenWallNs = systemClock().wallNs();
    manifest.incarnation = frozen.incarnation.value;
    manifest.evalLoss = frozen.evalLoss;
    FURROW_TRY(requireRoom(paths.checkpointsFolder(), sizeOf(frozen)));
    FURROW_TRY(files.createFolder(folder));
    FURROW_TRY(writeTensors(files, folder, kWeightsFile, frozen.weights, manifest));
    failPoint("checkpoint.weights");
    if (!frozen.optimizer.empty()) {
        FURROW_TRY(writeTensors(files, folder, kOptimizerFile, frozen.optimizer, manifest));
    }
    failPoint("checkpoint.optimizer");
    const std::string state = stateText(frozen.state);
    FURROW_TRY(writeSynced(files, folder / kStateFile, state));
    manifest.files.push_back({ kStateFile, state.size(), sha256Hex(state) });
    const std::string text = toJsonText(manifest);
    FURROW_TRY(writeSynced(files, folder / kManifestFile, text));
    failPoint("checkpoint.manifest");
    FURROW_TRY(files.syncFolder(folder));
    failPoint("checkpoint.synced");
    sizeBytes = text.size();
    for (const auto& file : manifest.files)
        sizeBytes += file.sizeBytes;
    return sha256Hex(text);
}

} // namespace

NamedTensors frozenCopy(const NamedTensors& tensors, NamedTensors reuse)
{
    const torch::NoGradGuard noGrad;
    if (reuse.size() != tensors.size())
        reuse.assign(tensors.size(), {});
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        const auto& [name, tensor] = tensors[i];
        auto& copy = reuse[i].second;
        if (!copy.defined() || copy.sizes() != tensor.sizes() || copy.scalar_type() != tensor.scalar_type())
            copy = torch::empty(tensor.sizes(), tensor.options().device(torch::kCPU).requires_grad(false));
        copy.copy_(tensor.detach()); // sync: the copy must be of this instant
        reuse[i].first = name;
    }
    return reuse;
}

Result<CheckpointRecord> publishCheckpoint(
    const RunPaths& paths, const std::string& runId, const FrozenCheckpoint& frozen, FileSystem& files)
{
    CheckpointRecord record;
    record.kind = frozen.kind;
    record.replica = frozen.state.replica;
    record.step = frozen.state.step;
    record.tokens = frozen.state.tokens;
    record.evalLoss = frozen.evalLoss;
    record.parents = frozen.parents;
    const std::string line
        = frozen.kind == CheckpointKind::Merge ? "merge" : "r" + std::to_string(frozen.state.replica);
    record.folder = line + "-" + std::to_string(frozen.state.step) + "-" + randomHex(12);
    const auto temporary = paths.checkpointFolder(record.folder + ".tmp");
    if (auto noted = noteWriting(paths, runId, record.folder, files); !noted.ok())
        return noted.error().in(sentence("writing checkpoint %1", { record.folder }));
    const auto abandon = [&](const Error& error) {
        if (files.removeAll(temporary).ok())
            forgetWriting(paths, record.folder, files);
        return error.in(sentence("writing checkpoint %1", { record.folder }));
    };
    try {
        auto hash = fillFolder(files, paths, temporary, runId, frozen, record.sizeBytes);
        if (!hash.ok())
            return abandon(hash.error());
        record.manifestSha256 = hash.value();
        if (auto status = files.rename(temporary, paths.checkpointFolder(record.folder)); !status.ok())
            return abandon(status.error());
        failPoint("checkpoint.renamed");
        if (auto status = files.syncFolder(paths.checkpointsFolder()); !status.ok())
            return status.error().in(sentence("writing checkpoint %1", { record.folder }));
    } catch (const std::exception& e) {
        return abandon(caught(e));
    }
    return record;
}

Result<ReplicaState> readReplicaState(const std::filesystem::path& folder)
{
    FURROW_TRY_ASSIGN(auto text, readFile(folder / kStateFile, 16 << 20));
    JsonReading reading(text);
    const int format = reading.root()["format"].as<int>();
    if (reading.ok() && format > kStateFormat)
        return Error { ErrorCode::InvalidArgument,
            sentence("checkpoint %1 was written by a newer Furrow; this one reads state format 1.",
                { utf8Text(folder.filename()) }) };
    auto state = stateFrom(reading.root());
    if (!reading.ok())
        return Error { ErrorCode::Corrupt,
            sentence("checkpoint %1 is damaged: state.json cannot be used: %2.",
                { utf8Text(folder.filename()), reading.trouble() }) };
    return state;
}

NamedTensors LoadedCheckpoint::allWeights() const
{
    NamedTensors all = weights;
    all.insert(all.end(), frozen.begin(), frozen.end());
    return all;
}

NamedTensors takeFrozen(NamedTensors& weights)
{
    if (std::none_of(weights.begin(), weights.end(), [](const auto& one) { return isLoraPair(one.first); }))
        return {};
    const auto isTrained
        = [](const auto& one) { return isLoraPair(one.first) || one.first.starts_with(kAveragePrefix); };
    const auto middle = std::stable_partition(weights.begin(), weights.end(), isTrained);
    NamedTensors frozen(middle, weights.end());
    weights.erase(middle, weights.end());
    return frozen;
}

Result<LoadedCheckpoint> loadCheckpoint(
    const RunPaths& paths, const std::string& runId, const CheckpointRecord& record, const CheckpointParts& wanted)
{
    const auto folder = paths.checkpointFolder(record.folder);
    FURROW_TRY_ASSIGN(auto manifest, verifyOwnFiles(folder, record.manifestSha256, runId));
    LoadedCheckpoint loaded;
    loaded.frozenFile = manifest.frozen;
    FURROW_TRY_ASSIGN(loaded.state, readReplicaState(folder));
    FURROW_TRY_ASSIGN(auto weights, readSafetensors(folder / kWeightsFile));
    loaded.weights = std::move(weights).tensors;
    loaded.frozen = takeFrozen(loaded.weights);
    if (wanted.frozen && loaded.frozenFile) {
        FURROW_TRY(verifyFrozen(folder, manifest));
        FURROW_TRY_ASSIGN(
            auto frozen, readSafetensors(frozenFileIn(paths.checkpointsFolder(), loaded.frozenFile->sha256)));
        loaded.frozen = std::move(frozen).tensors;
    }
    if (wanted.optimizer && isThere(folder / kOptimizerFile)) {
        FURROW_TRY_ASSIGN(auto optimizer, readSafetensors(folder / kOptimizerFile));
        loaded.optimizer = std::move(optimizer).tensors;
    }
    return loaded;
}

CheckpointWriter::CheckpointWriter(RunPaths paths, std::string runId, LedgerThread& ledger, FileSystem& files)
    : paths_(std::move(paths))
    , runId_(std::move(runId))
    , ledger_(ledger)
    , files_(files)
{
}

void CheckpointWriter::begin(FrozenCheckpoint frozen)
{
    FURROW_CHECK(!running_.valid(), "the checkpoint before was not taken");
    frozen_ = std::make_shared<FrozenCheckpoint>(std::move(frozen));
    running_ = std::async(std::launch::async, [this, frozen = frozen_] { return write(*frozen); });
}

Result<CheckpointWriter::Committed> CheckpointWriter::finished()
{
    auto result = running_.get();
    spareWeights_ = std::move(frozen_->weights);
    spareOptimizer_ = std::move(frozen_->optimizer);
    frozen_.reset();
    return result;
}

Result<CheckpointWriter::Committed> CheckpointWriter::write(const FrozenCheckpoint& frozen)
{
    const std::int64_t began = systemClock().monotonicNs();
    FURROW_TRY_ASSIGN(auto record, publishCheckpoint(paths_, runId_, frozen, files_));
    failPoint("checkpoint.published");
    FURROW_TRY_ASSIGN(auto id, ledger_.call([&](WorkerLedger& ledger) { return ledger.commit(record, frozen.parts); }));
    failPoint("checkpoint.committed");
    forgetWriting(paths_, record.folder, files_);
    return Committed { id, record, static_cast<double>(systemClock().monotonicNs() - began) / 1e9 };
}

std::optional<Result<CheckpointWriter::Committed>> CheckpointWriter::take()
{
    if (!running_.valid() || running_.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
        return std::nullopt;
    return finished();
}

std::optional<Result<CheckpointWriter::Committed>> CheckpointWriter::wait()
{
    if (!running_.valid())
        return std::nullopt;
    return finished();
}

} // namespace furrow
