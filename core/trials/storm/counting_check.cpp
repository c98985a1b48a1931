#include "core/trials/storm/counting_check.h"

#include "core/base/file_system.h"
#include "core/config/json_reading.h"
#include "core/run/folder/checkpoint_manifest.h"
#include "core/tracker/ledger_reader.h"

#include <nlohmann/json.hpp>

#include <cstring>
#include <set>

namespace furrow {

namespace {

constexpr std::uint64_t kMaxBytes = 4ull << 30;

/// An int64 tensor of a safetensors file, flat.
class Integers {
public:
    static std::optional<Integers> find(const nlohmann::json& header, const std::string& name, std::string_view data)
    {
        const auto found = header.find(name);
        if (found == header.end() || found->value("dtype", "") != "I64")
            return std::nullopt;
        const auto& offsets = found->at("data_offsets");
        const auto begin = offsets.at(0).get<std::uint64_t>();
        const auto end = offsets.at(1).get<std::uint64_t>();
        if (begin > end || end > data.size() || (end - begin) % 8 != 0)
            return std::nullopt;
        return Integers(data.substr(begin, end - begin));
    }
    std::size_t size() const { return bytes_.size() / 8; }
    std::int64_t at(std::size_t index) const
    {
        std::int64_t value = 0;
        std::memcpy(&value, bytes_.data() + index * 8, 8);
        return value;
    }

private:
    explicit Integers(std::string_view bytes)
        : bytes_(bytes)
    {
    }
    std::string_view bytes_;
};

void compare(
    const WindowCounts& weights, const WindowCounts& ledger, const std::string& folder, CountingVerdict& verdict)
{
    const auto fault = [&](const std::array<std::int64_t, 4>& id, std::int64_t found, std::int64_t expected) {
        (found > expected ? verdict.duplicated : verdict.missing) += std::abs(found - expected);
        if (verdict.firstFault.empty())
            verdict.firstFault = "Window " + std::to_string(id[3]) + " of "
                + toString(chunkIdOf({ id[0], id[1], static_cast<std::int32_t>(id[2]) })) + " is in checkpoint "
                + folder + " " + std::to_string(found) + " times; the ledger says " + std::to_string(expected) + ".";
    };
    for (const auto& [id, expected] : ledger) {
        const auto found = weights.find(id);
        const auto count = found == weights.end() ? 0 : found->second;
        if (count != expected)
            fault(id, count, expected);
    }
    for (const auto& [id, count] : weights)
        if (!ledger.contains(id))
            fault(id, count, 0);
}

Result<WindowCounts> readCounts(const std::filesystem::path& file, const std::string& prefix)
{
    FURROW_TRY_ASSIGN(auto bytes, readFile(file, kMaxBytes));
    const std::string_view all = bytes;
    const Error strange { ErrorCode::Corrupt,
        file.parent_path().filename().string() + " does not hold weights of the counting model." };
    std::uint64_t headerSize = 0;
    if (all.size() < 8)
        return strange;
    std::memcpy(&headerSize, all.data(), 8);
    if (headerSize > all.size() - 8)
        return strange;
    const auto header = nlohmann::json::parse(all.substr(8, headerSize), nullptr, false);
    if (!header.is_object())
        return strange;
    const auto data = all.substr(8 + headerSize);
    const auto ids = Integers::find(header, prefix + "ids", data);
    const auto counts = Integers::find(header, prefix + "counts", data);
    if (!ids || !counts || ids->size() != counts->size() * 4)
        return strange;
    WindowCounts found;
    for (std::size_t i = 0; i < counts->size(); ++i)
        found[{ ids->at(i * 4), ids->at(i * 4 + 1), ids->at(i * 4 + 2), ids->at(i * 4 + 3) }] += counts->at(i);
    return found;
}

/// Momentum of a merge; empty where it was not made by DiLoCo.
Result<WindowCounts> readMomentum(const std::filesystem::path& checkpointFolder)
{
    const auto file = checkpointFolder / "optimizer.safetensors";
    std::error_code failed;
    if (std::filesystem::exists(file, failed))
        return readCounts(file, "outer.");
    if (std::filesystem::exists(checkpointFolder / kManifestFile, failed))
        return WindowCounts {};
    return Error { ErrorCode::NotFound,
        checkpointFolder.filename().string() + " is being removed." }; // its manifest goes first
}

/// a - b, without zeros.
WindowCounts difference(WindowCounts a, const WindowCounts& b)
{
    for (const auto& [id, count] : b)
        a[id] -= count;
    std::erase_if(a, [](const auto& one) { return one.second == 0; });
    return a;
}

/// Folder of the merge that a merge grew from; "": the start weights.
std::string baseOf(const std::filesystem::path& checkpointFolder)
{
    constexpr std::uint64_t kMaxState = 1u << 20;
    const auto text = readFile(checkpointFolder / "state.json", kMaxState);
    JsonReading state(text.ok() ? text.value() : std::string());
    return state.root().valueOr("base", std::string());
}

} // namespace

Result<WindowCounts> readWindowCounts(const std::filesystem::path& checkpointFolder)
{
    return readCounts(checkpointFolder / "weights.safetensors", "");
}

Result<CountingVerdict> checkCounting(const RunPaths& paths)
{
    FURROW_TRY_ASSIGN(auto reader, LedgerReader::open(paths.tracker()));
    FURROW_TRY_ASSIGN(auto rows, reader.checkpoints());
    CountingVerdict verdict;
    for (const auto& row : rows) {
        if (!row.head)
            continue;
        ++verdict.models;
        FURROW_TRY_ASSIGN(auto parts, reader.partsBehind(row.id));
        WindowCounts ledger;
        for (const auto& part : parts) {
            const auto place = placeOf(part.chunk);
            for (auto window = part.windows.begin; window < part.windows.end; ++window)
                ++ledger[{ place.epoch, place.block, place.column, window }];
        }
        verdict.windows = std::max(verdict.windows, static_cast<std::int64_t>(ledger.size()));
        FURROW_TRY_ASSIGN(auto weights, readWindowCounts(paths.checkpointFolder(row.record.folder)));
        compare(weights, ledger, row.record.folder, verdict);
    }
    return verdict;
}

Result<OuterVerdict> checkOuterMomentum(const RunPaths& paths)
{
    auto reader = LedgerReader::open(paths.tracker());
    auto rows = reader.ok() ? reader.value().checkpoints() : reader.error();
    auto runId = reader.ok() ? reader.value().runId() : reader.error();
    if (!rows.ok() || !runId.ok())
        return rows.ok() ? runId.error() : rows.error();
    std::set<std::string> whole; // merges
    for (const auto& row : rows.value())
        if (row.record.kind == CheckpointKind::Merge && !row.removed && !row.damaged
            && verifyCheckpoint(paths.checkpointFolder(row.record.folder), row.record.manifestSha256, runId.value())
                .ok())
            whole.insert(row.record.folder);
    OuterVerdict verdict;
    for (const auto& name : whole) {
        const auto folder = paths.checkpointFolder(name);
        const auto base = baseOf(folder);
        if (!base.empty() && !whole.contains(base))
            continue;
        const auto momentum = readMomentum(folder);
        if (!momentum.ok() || momentum.value().empty())
            continue;
        const auto weights = readWindowCounts(folder);
        const auto before
            = base.empty() ? Result<WindowCounts>(WindowCounts {}) : readWindowCounts(paths.checkpointFolder(base));
        const auto momentumBefore
            = base.empty() ? Result<WindowCounts>(WindowCounts {}) : readMomentum(paths.checkpointFolder(base));
        if (!weights.ok() || !before.ok() || !momentumBefore.ok()) // the keep policy, or the storm, took one away
            continue;
        ++verdict.steps;
        if (difference(momentum.value(), momentumBefore.value()) != difference(weights.value(), before.value())
            && verdict.firstFault.empty())
            verdict.firstFault = "The outer momentum of merge " + name + " does not say what its outer step added to "
                + (base.empty() ? "the start weights" : base) + ".";
    }
    return verdict;
}

} // namespace furrow
