// A worker without tensors for the storm: its "weights" count how often each window was trained. It claims, trains,
// checkpoints as a real one does, and is killed at any instant.
//   field_worker TRACKER CHECKPOINTS ATTEMPT WORKER SEED

#include "core/base/file_system.h"
#include "core/base/random.h"
#include "core/tracker/ledger_reader.h"
#include "core/tracker/window_ranges.h"
#include "core/tracker/worker_ledger.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <cstdlib>
#include <thread>

using namespace furrow;

namespace {

constexpr std::int64_t kTokens = 1000; // of a chunk of Field

struct Weights {
    nlohmann::json counts = nlohmann::json::object(); // chunk id -> trainings of each window

    void train(const Claim& claim, WindowRange range)
    {
        auto& windows = counts[std::to_string(claim.chunk.value)];
        if (windows.is_null())
            windows = std::vector<int>(static_cast<std::size_t>(claim.windows), 0);
        for (std::int32_t window = range.begin; window < range.end; ++window)
            windows[static_cast<std::size_t>(window)] = windows[static_cast<std::size_t>(window)].get<int>() + 1;
    }
};

[[noreturn]] void stop(const Error& error)
{
    std::fprintf(stderr, "%s\n", error.message.c_str());
    std::exit(error.code == ErrorCode::Cancelled ? 3 : 1);
}
template <typename T> T must(Result<T> result)
{
    if (!result.ok())
        stop(result.error());
    return std::move(result).value();
}
void must(const Status& status)
{
    if (!status.ok())
        stop(status.error());
}

// File of the newest surviving weights of a replica; empty: the start weights, all zero.
std::string headFolder(const std::filesystem::path& tracker, int replica)
{
    auto reader = must(LedgerReader::open(tracker));
    std::optional<CheckpointId> head;
    for (const auto& row : must(reader.replicas())) {
        if (row.replica == replica)
            head = row.head;
    }
    for (const auto& row : must(reader.checkpoints())) {
        if (row.id == head)
            return row.record.folder;
    }
    return {};
}

} // namespace

int main(int argc, char** argv)
{
    if (argc != 6)
        return 2;
    const std::filesystem::path folder = argv[2];
    const int worker = std::atoi(argv[4]);
    Random random(std::strtoull(argv[5], nullptr, 10));
    auto ledger = must(WorkerLedger::open(argv[1], "run-1"));
    must(ledger.start({ { std::atoll(argv[3]) }, worker, worker, "cpu", "" }, 60));
    Weights weights;
    const std::string head = headFolder(argv[1], worker);
    if (!head.empty())
        weights.counts = nlohmann::json::parse(must(readFile(folder / head)));

    std::vector<Part> parts;
    std::int64_t step = 0;
    const auto checkpoint = [&] {
        CheckpointRecord record;
        record.replica = worker;
        record.folder = std::to_string(worker) + "-" + randomHex(12);
        must(writeFileDurably(realFileSystem(), folder / record.folder, weights.counts.dump()));
        must(ledger.commit(record, parts));
        parts.clear();
    };
    while (true) {
        auto answer = must(ledger.claim());
        const Claim* claim = std::get_if<Claim>(&answer);
        if (claim == nullptr) {
            const auto why = std::get<NothingToClaim>(answer);
            if (!parts.empty())
                checkpoint();
            if (why == NothingToClaim::EpochComplete || why == NothingToClaim::StopRuleReached)
                break;
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
            continue;
        }
        must(ledger.begin(*claim));
        ChunkOutcome outcome;
        outcome.firstStep = step + 1;
        for (const WindowRange& range : claim->remaining) {
            const bool cut = range.size() > 1 && random.below(6) == 0; // a checkpoint in the middle of the chunk
            const std::int32_t middle = cut ? range.begin + 1
                    + static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(range.size() - 1)))
                                            : range.end;
            weights.train(*claim, { range.begin, middle });
            ++step;
            parts.push_back({ claim->chunk, { range.begin, middle }, 1 });
            if (cut) {
                checkpoint();
                weights.train(*claim, { middle, range.end });
                ++step;
                parts.push_back({ claim->chunk, { middle, range.end }, 1 });
            }
            outcome.done.push_back(range);
        }
        std::this_thread::sleep_for(std::chrono::microseconds(random.below(4000)));
        outcome.lastStep = step;
        outcome.tokens = shareOf(outcome.done, kTokens, claim->windows);
        outcome.lossSum = 100;
        must(ledger.finish(*claim, outcome));
        must(ledger.renew({ WorkerPhase::Train, claim->chunk, 1, step, 0, 1, 1 }, 60));
        if (random.below(4) == 0)
            checkpoint();
    }
    must(ledger.end("nothing left"));
    return 0;
}
