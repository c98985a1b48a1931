// How this works: write() moves a record into a bounded vector; the thread swaps the vector out, encodes, and
// appends with one unbuffered call. A short write leaves the rest at the front of `pending`, so a line is torn only
// by the death of the process, and the next incarnation closes such a line before it begins its own.
#include "core/telemetry/writer.h"

#include "core/base/clock.h"
#include "core/base/file_system.h"
#include "core/base/link_refusal.h"
#include "core/base/regular_file.h"
#include "core/base/sentence.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace furrow {

struct TelemetryWriter::State {
    // set in open(), then constant
    TelemetryWriterOptions options;
    std::string fileName;

    // used by the thread only, once it runs
    std::optional<RegularFile> file;
    std::string pending;
    std::int64_t pendingLines = 0;

    mutable std::mutex mutex;
    std::condition_variable wake;
    std::condition_variable done;
    // guarded by mutex
    std::vector<TelemetryRecord> queue;
    TelemetryWriterCounts counts;
    bool flushAsked = false;
    bool closing = false;
    std::uint64_t rounds = 0; ///< finished rounds of the thread
    bool idle = true;

    std::jthread thread;

    void run();
    void writePending();
    void dropOldLines();
};

namespace {

bool endsInsideALine(const std::filesystem::path& path)
{
    RegularFileStream in(path);
    if (!in.seekg(0, std::ios::end) || in.tellg() <= 0)
        return false;
    in.seekg(-1, std::ios::end);
    return in.get() != '\n';
}

} // namespace

Result<TelemetryWriter> TelemetryWriter::open(const std::filesystem::path& file, TelemetryHeader header,
    const Clock& clock, const TelemetryWriterOptions& options)
{
    FURROW_TRY(refuseLink(file.parent_path()));
    (void)realFileSystem().createFolders(file.parent_path()); // what comes next says why it could not
    auto state = std::make_unique<State>();
    state->options = options;
    state->fileName = file.string();
    const bool torn = endsInsideALine(file);
    auto opened = RegularFile::open(file, RegularFile::At::End);
    if (!opened.ok())
        return opened.error().in(sentence("writing telemetry"));
    state->file = std::move(opened).value();

    header.bootId = bootId();
    header.monotonicAnchorNs = clock.monotonicNs();
    header.wallAnchorNs = clock.wallNs();
    if (torn)
        state->pending += '\n';
    encodeLine(header, state->pending);
    state->writePending();
    state->queue.reserve(std::min<std::size_t>(options.queueRecords, 1024));
    state->thread = std::jthread([raw = state.get()] { raw->run(); });
    return TelemetryWriter(std::move(state));
}

TelemetryWriter::TelemetryWriter(std::unique_ptr<State> state)
    : state_(std::move(state))
{
}
TelemetryWriter::TelemetryWriter(TelemetryWriter&&) noexcept = default;

TelemetryWriter& TelemetryWriter::operator=(TelemetryWriter&& other) noexcept
{
    TelemetryWriter old(std::move(*this));
    state_ = std::move(other.state_);
    return *this;
}

TelemetryWriter::~TelemetryWriter()
{
    if (!state_)
        return;
    {
        const std::lock_guard lock(state_->mutex);
        state_->closing = true;
    }
    state_->wake.notify_one();
    state_->thread.join();
}

void TelemetryWriter::write(TelemetryRecord record)
{
    const std::lock_guard lock(state_->mutex);
    if (state_->queue.size() >= state_->options.queueRecords) {
        ++state_->counts.droppedQueueFull;
        return;
    }
    state_->queue.push_back(std::move(record));
    // Half full: do not wait for the interval.
    if (state_->queue.size() * 2 == state_->options.queueRecords)
        state_->wake.notify_one();
}

void TelemetryWriter::flush()
{
    std::unique_lock lock(state_->mutex);
    // A round that runs now may have taken its records before ours came: wait for one that begins after this.
    const auto target = state_->rounds + (state_->idle ? 1 : 2);
    state_->flushAsked = true;
    state_->wake.notify_one();
    state_->done.wait(lock, [&] {
        if (state_->rounds >= target)
            return true;
        state_->flushAsked = true;
        state_->wake.notify_one();
        return false;
    });
}

TelemetryWriterCounts TelemetryWriter::counts() const
{
    const std::lock_guard lock(state_->mutex);
    return state_->counts;
}

void TelemetryWriter::State::run()
{
    std::vector<TelemetryRecord> batch;
    std::unique_lock lock(mutex);
    for (;;) {
        const auto half = options.queueRecords / 2;
        wake.wait_for(lock, std::chrono::milliseconds(options.flushIntervalMs),
            [&] { return flushAsked || closing || queue.size() >= std::max<std::size_t>(half, 1); });
        const bool last = closing;
        flushAsked = false;
        idle = false;
        batch.clear();
        batch.swap(queue);
        lock.unlock();

        for (const auto& record : batch)
            encodeLine(record, pending);
        pendingLines += static_cast<std::int64_t>(batch.size());
        writePending();

        lock.lock();
        idle = true;
        ++rounds;
        done.notify_all();
        if (last && queue.empty())
            return;
    }
}

void TelemetryWriter::State::writePending()
{
    if (pending.empty())
        return;
    pending.erase(0, file->write(pending));
    const auto left = static_cast<std::int64_t>(std::count(pending.begin(), pending.end(), '\n'));
    const auto written = std::max<std::int64_t>(0, pendingLines - left);
    pendingLines -= written;

    const std::lock_guard lock(mutex);
    counts.written += written;
    if (pending.empty()) {
        counts.lastError.clear();
        return;
    }
    ++counts.failedWrites;
    counts.lastError = fileName + " refuses more telemetry: free space on its disk";
    dropOldLines();
}

/// Keeps memory bounded while the disk refuses. The first line may be partly in the file already: it stays.
void TelemetryWriter::State::dropOldLines()
{
    while (pending.size() > options.pendingBytes) {
        const auto firstEnd = pending.find('\n');
        const auto cutEnd
            = firstEnd == std::string::npos ? firstEnd : pending.find('\n', firstEnd + 1 + options.pendingBytes / 4);
        if (cutEnd == std::string::npos)
            return;
        const auto dropped = std::count(pending.begin() + static_cast<std::ptrdiff_t>(firstEnd) + 1,
            pending.begin() + static_cast<std::ptrdiff_t>(cutEnd) + 1, '\n');
        pending.erase(firstEnd + 1, cutEnd - firstEnd);
        pendingLines -= dropped;
        counts.droppedDiskRefused += dropped;
    }
}

} // namespace furrow
