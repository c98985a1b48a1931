// Files that are damaged, gone, or of yesterday.

#include "core/trials/storm/storm_deeds.h"

#include "core/base/file_system.h"
#include "core/data/block_manager.h"

#include <algorithm>
#include <fstream>

namespace furrow::deeds {

std::vector<std::filesystem::path> filesIn(const std::filesystem::path& folder, const std::string& extension)
{
    std::vector<std::filesystem::path> files;
    std::error_code failed;
    for (const auto& entry : std::filesystem::directory_iterator(folder, failed))
        if (entry.is_regular_file(failed) && (extension.empty() || entry.path().extension() == extension))
            files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

StormDeed fillDisk(StormRun& run, Random& random)
{
    {
        std::ofstream full(run.diskFullFile());
    }
    const auto ms = 500 + static_cast<std::int64_t>(random.below(4000));
    pause(ms);
    (void)realFileSystem().removeAll(run.diskFullFile());
    return { "the disk was full for " + std::to_string(ms) + " ms", 0, "", static_cast<double>(ms) / 1e3 };
}

namespace {

/// Flips a bit, cuts the file or removes it.
std::string damage(const std::filesystem::path& file, Random& random)
{
    std::error_code failed;
    const auto size = std::filesystem::file_size(file, failed);
    const auto name = file.parent_path().filename().string() + "/" + file.filename().string();
    if (failed)
        return name + " was gone already";
    const auto kind = size == 0 ? 2 : random.below(3);
    if (kind == 2) {
        std::filesystem::remove(file, failed);
        return "removed " + name;
    }
    if (kind == 1) {
        std::filesystem::resize_file(file, random.below(size), failed);
        return "cut " + name;
    }
    const auto at = static_cast<std::streamoff>(random.below(size));
    std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekg(at);
    const char flipped = static_cast<char>(bytes.get() ^ (1 << random.below(8)));
    bytes.seekp(at);
    bytes.put(flipped);
    return "flipped a bit of " + name;
}

} // namespace

StormDeed damageCheckpoint(StormRun& run, Random& random)
{
    auto reader = LedgerReader::open(run.paths().tracker());
    auto rows = reader.ok() ? reader.value().checkpoints() : reader.error();
    if (!rows.ok())
        return { rows.error().message, 0 };
    std::erase_if(rows.value(), [](const auto& row) { return row.removed || row.damaged; });
    const bool onlyHeads = random.below(4) != 0;
    if (onlyHeads)
        std::erase_if(rows.value(), [](const auto& row) { return !row.head; });
    if (rows.value().empty())
        return { "there was no checkpoint to damage", 0 };
    const auto folder = run.paths().checkpointFolder(rows.value()[random.below(rows.value().size())].record.folder);
    run.expectLossOf(folder.filename().string());
    const auto files = filesIn(folder);
    if (files.empty() || random.below(8) == 0) {
        (void)realFileSystem().removeAll(folder);
        return { "removed checkpoint " + folder.filename().string(), 0 };
    }
    return { damage(files[random.below(files.size())], random), 0 };
}

StormDeed damageBlock(StormRun& run, Random& random)
{
    const auto files = filesIn(BlockManager::blockFolder(run.paths().cacheFolder()), ".block");
    if (files.empty())
        return { "no block was prepared yet", 0 };
    const auto& file = files[random.below(files.size())];
    run.expectDamageOf(file.filename().string());
    return { damage(file, random), 0 };
}

StormDeed damageTelemetry(StormRun& run, Random& random)
{
    const auto files = filesIn(run.paths().telemetryFolder());
    if (files.empty())
        return { "there was no telemetry to damage", 0 };
    return { damage(files[random.below(files.size())], random), 0, "",
        std::nullopt }; // the waits are read from these files
}

/// What a process leaves that dies at a bad moment, and what people copy into folders.
StormDeed leaveDebris(StormRun& run, Random& random)
{
    const auto folder = run.paths().checkpointFolder(
        "r0-" + std::to_string(random.below(100000)) + "-debris" + (random.below(2) == 0 ? ".tmp" : ""));
    (void)realFileSystem().createFolders(folder);
    {
        std::ofstream file(folder / "weights.safetensors");
        file << "not weights";
    }
    {
        std::ofstream file(run.paths().folder() / "view.sqlite.0123456789abcdef.tmp");
        file << "not a snapshot";
    }
    return { "left " + folder.filename().string() + " and a half-written snapshot", 0 };
}

namespace {

/// False: something new lay in its place by then. That is kept too.
bool bringBack(const std::filesystem::path& away, const std::filesystem::path& folder)
{
    auto interim = folder;
    interim += ".interim";
    std::error_code failed;
    for (int attempt = 0; attempt < 100 && std::filesystem::exists(away, failed);
        ++attempt) { // somebody may make it anew between the two
        std::filesystem::rename(folder, interim, failed);
        std::filesystem::rename(away, folder, failed);
    }
    const bool wasEmpty = !std::filesystem::exists(interim, failed) || std::filesystem::is_empty(interim, failed);
    std::filesystem::copy(interim, folder,
        std::filesystem::copy_options::recursive | std::filesystem::copy_options::skip_existing, failed);
    (void)realFileSystem().removeAll(interim);
    return wasEmpty;
}

} // namespace

/// As a disk that is unmounted and mounted again.
StormDeed takeCheckpointsAway(StormRun& run, Random& random)
{
    const auto folder = run.paths().checkpointsFolder();
    auto away = folder;
    away += ".away";
    std::error_code failed;
    std::filesystem::rename(folder, away, failed);
    if (failed)
        return { "there was no checkpoints folder to take away" };
    const Stopwatch gone;
    StormDeed deed { "the checkpoints folder was away" };
    pause(500 + static_cast<std::int64_t>(random.below(3500)));
    if (random.below(2) == 0) {
        deed = killAll(run, random);
        const auto resumed = run.resumePlainly();
        deed.text = "the checkpoints folder was away, also when the run was resumed: "
            + (resumed.ok() ? "it was started" : resumed.error().message);
        waitFor([&] { return !run.isHeld(); }, 3000);
    }
    if (!bringBack(away, folder))
        deed.problem = "checkpoints were written to where the folder of the checkpoints should have been";
    if (run.hasUndueDamage())
        deed.problem = "checkpoints that could not be reached were taken for damaged";
    deed.holdsSeconds = gone.seconds();
    return deed;
}

namespace {

/// The tracker with its WAL, as a backup program copies files.
void copyTracker(const std::filesystem::path& from, const std::filesystem::path& to)
{
    std::error_code failed;
    for (const char* ending : { "", "-wal", "-shm" }) {
        std::filesystem::remove(to.string() + ending, failed);
        if (std::string(ending) != "-shm")
            std::filesystem::copy_file(from.string() + ending, to.string() + ending, failed);
    }
}

} // namespace

StormDeed putOlderTrackerBack(StormRun& run, Random& random)
{
    stopInOrder(run, random);
    const auto older = run.faultFile("older-tracker.sqlite");
    copyTracker(run.paths().tracker(), older);
    const auto before = run.checkpoints();
    if (auto resumed = run.resume(); !resumed.ok())
        return { resumed.error().message };
    waitFor([&] { return run.checkpoints() >= before + 4 || !run.isHeld(); }, 20'000);
    auto deed = (random.below(2) == 0 ? stopInOrder : killAll)(run, random);
    const auto newer = run.checkpoints() - before;
    const auto committed = run.committed();
    copyTracker(older, run.paths().tracker());
    deed.text = "put a tracker back that is " + std::to_string(newer) + " checkpoints older";
    if (newer == 0)
        return deed;
    run.expectOlderTracker();
    const auto asked = run.askedSteps();
    if (run.resumePlainly().ok())
        deed.problem = "the run went on from an older tracker as if nothing had been trained since";
    else if (run.resume().ok() && run.askedSteps() == asked + 1
        && run.committed() < committed) // more steps: weights were damaged as well
        deed.problem = "taking the tracker forward lost " + std::to_string(committed - run.committed())
            + " chunks that the manifests prove";
    return deed;
}

} // namespace furrow::deeds
