#include "core/run/audit/run_audit.h"

#include "core/base/file_lock.h"
#include "core/base/file_system.h"
#include "core/base/hash.h"
#include "core/base/path.h"
#include "core/base/process.h"
#include "core/base/random.h"
#include "core/data/block_manager.h"
#include "core/data/plan/held_out.h"
#include "core/data/tokenizer/tokenizer.h"
#include "core/run/audit/block_repair.h"
#include "core/run/audit/model_card.h"
#include "core/run/folder/checkpoint_manifest.h"
#include "core/run/folder/foreign_ledger.h"
#include "core/run/folder/left_out_chunks.h"
#include "core/run/folder/removed_weights.h"
#include "core/run/folder/stray_checkpoints.h"
#include "core/run/status/evaluation_file.h"
#include "core/run/status/feeder_meters.h"
#include "core/run/start/life_cycle.h"
#include "core/run/audit/checkpoint_problems.h"
#include "core/run/audit/proven_parts.h"
#include "core/run/audit/proven_rows.h"
#include "core/run/audit/repair.h"
#include "core/run/audit/tracker_damage.h"
#include "core/run/audit/untrained_chunks.h"
#include "core/run/start/chunk_decisions.h"
#include "core/run/start/recovery.h"
#include "core/run/start/resume_check.h"
#include "core/run/status/hindrance.h"
#include "core/run/status/own_process.h"
#include "core/run/status/run_status.h"
#include "core/run/status/tracker_config.h"
#include "core/tracker/audit/recount.h"
#include "core/tracker/inherited_list.h"
#include "core/tracker/audit/rebuild.h"
#include "core/tracker/sqlite/database.h"
#include "core/tracker/sqlite/database_files.h"
#include "core/tracker/training_notes.h"
#include "core/tracker/window_ranges.h"
#include "tests/core/tracker/ledger_fixture.h"
#include "tests/fakes/manual_clock.h"
#include "tests/fakes/read_hook.h"
#include "tests/fakes/small_weights.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <sys/stat.h>

// A run with real blocks and checkpoints of bytes, then somebody changes one thing. The audit must find it, name it,
// and tell damage from what it could not look at.

using namespace furrow;

namespace {

namespace fs = std::filesystem;

/// Trained to the end of its epoch by one worker: six checkpoints, of which the keep policy leaves two with weights.
class WholeRun {
public:
    static std::string stateText(const CheckpointManifest& of)
    {
        return nlohmann::json {
            { "format", kStateFormat }, { "replica", 0 }, { "own_steps", of.step }, { "step", of.step },
            { "tokens", of.tokens }, { "samples", 0 }, { "steps_since_base", of.step },
            { "tokens_since_base", of.tokens }, { "base", "" }, { "merge_round", 0 }, { "parents", of.parents }
        }.dump();
    }

    explicit WholeRun(const std::function<void(RunConfig&)>& change = {})
    {
        std::string text;
        for (int i = 0; i < 60; ++i)
            text += std::to_string(i) + " is the number of this line\n";
        good(writeFileDurably(realFileSystem(), root() / "data.txt", text));
        NewRun request;
        request.config.data = { utf8Text(root() / "data.txt") };
        request.config.tokenizer = "byte";
        request.config.heldOutPercent = 0;
        request.config.samplesPerBlock = 20;
        request.config.chunkSamples = 5;
        request.config.devices = "cpu";
        request.config.batchSize = 2;
        if (change)
            change(request.config);
        request.folder = root() / "run";
        request.preset = "char";
        paths = good(createRun(request, {}));
        feed();
        train();
        auto supervisor = good(SupervisorLedger::open(paths.tracker()));
        for (std::int64_t id = 1; id <= 4; ++id)
            removeWeights(supervisor, id);
        good(supervisor.advance());
        good(supervisor.emptyWal());
    }

    fs::path root() const { return pathFromUtf8(folder_.path().toStdString()); }
    RunPaths paths { "" };

private:
    void feed()
    {
        const auto file = good(readRunFile(paths));
        auto blocks = good(BlockManager::open(file.config, file.dataManifest, file.samplesPerBlock, paths.cacheFolder(),
            good(loadTokenizer(utf8Text(paths.tokenizer()))), paths.duplicatesFile()));
        good(blocks.findDuplicates({}));
        auto ledger = good(FeederLedger::open(paths.tracker()));
        std::int64_t count = 0;
        while (auto planned = good(blocks.planNext())) {
            const NewBlock block { planned->block, planned->source, planned->firstRow, planned->chunkRows,
                planned->plan, {} };
            good(ledger.addBlocks({ &block, 1 }));
            const auto made = good(blocks.prepare(*planned));
            good(ledger.setPrepared(planned->block, made.fileName, made.digest,
                good(preparedChunks(good(blocks.openBlock(made)), windowRules(file.config)))));
            ++count;
        }
        good(ledger.setLastBlockProven(count));
    }

    void train()
    {
        const auto runId = good(readRunFile(paths)).runId;
        const auto attempt = good(good(SupervisorLedger::open(paths.tracker())).beginAttempt(thisProcess(), "{}"));
        auto worker = good(WorkerLedger::open(paths.tracker(), runId));
        incarnation_ = good(worker.start({ attempt, 0, 0, "cpu", "test" }, 600))->value;
        std::vector<Part> parts;
        std::string parent;
        std::int64_t step = 0;
        while (const auto claim = claimed(worker)) {
            good(worker.begin(*claim));
            ChunkOutcome outcome;
            outcome.done = claim->remaining;
            outcome.tokens = tokensOf(*claim);
            outcome.lossSum = 2.5 * static_cast<double>(outcome.tokens);
            outcome.firstStep = outcome.lastStep = ++step;
            tokens_ += outcome.tokens;
            good(worker.finish(*claim, outcome));
            for (const auto& range : claim->remaining)
                parts.push_back({ claim->chunk, range });
            if (step % 2 != 0)
                continue;
            parent = commit(worker, runId, step, parent, std::exchange(parts, {}));
            if (step == 4)
                copyTracker(paths.folder() / "older.sqlite");
        }
        good(worker.end("done"));
    }

    std::string commit(WorkerLedger& worker, const std::string& runId, std::int64_t step, const std::string& parent,
        const std::vector<Part>& parts)
    {
        CheckpointManifest manifest;
        manifest.runId = runId;
        manifest.step = step;
        manifest.tokens = tokens_;
        manifest.incarnation = incarnation_;
        manifest.evalLoss = 2.0 + 1.0 / static_cast<double>(step);
        manifest.parts = parts;
        if (!parent.empty()) {
            manifest.parents = { parent };
            manifest.parentManifests = { manifestSha256(paths, parent) };
        }
        CheckpointRecord record;
        record.folder = "r0-" + std::to_string(step);
        record.step = step;
        record.tokens = manifest.tokens;
        record.evalLoss = manifest.evalLoss;
        const auto folder = paths.checkpointFolder(record.folder);
        good(realFileSystem().createFolders(folder));
        for (const std::string name : { "weights.safetensors", "optimizer.safetensors", "state.json" }) {
            const std::string bytes = name == kStateFile
                ? stateText(manifest)
                : test::smallWeights(std::string(5000, static_cast<char>('a' + step)) + name);
            good(writeFileDurably(realFileSystem(), folder / name, bytes));
            manifest.files.push_back({ name, bytes.size(), sha256Hex(bytes) });
        }
        const auto frozen = test::smallWeights(std::string(7000, 'f')); // as of LoRA: once for all checkpoints
        manifest.frozen = { sha256Hex(frozen), frozen.size() };
        good(realFileSystem().createFolders(paths.frozenFolder()));
        good(writeFileDurably(
            realFileSystem(), frozenFileIn(paths.checkpointsFolder(), manifest.frozen->sha256), frozen));
        const std::string text = toJsonText(manifest);
        good(writeFileDurably(realFileSystem(), folder / "manifest.json", text));
        record.manifestSha256 = sha256Hex(text);
        record.sizeBytes = text.size();
        for (const auto& file : manifest.files)
            record.sizeBytes += file.sizeBytes;
        good(worker.commit(record, parts));
        return record.folder;
    }

    std::int64_t tokensOf(const Claim& claim) const
    {
        return good(Database::open(paths.tracker(), {}))
            .integer("SELECT tokens FROM chunk WHERE id=?", claim.chunk)
            .value_or(0);
    }

    /// As the keep policy does.
    void removeWeights(SupervisorLedger& supervisor, std::int64_t id)
    {
        const std::string name = "r0-" + std::to_string(2 * id);
        good(supervisor.markRemoved({ id }));
        fs::create_directories(paths.removedManifestsFolder());
        fs::rename(paths.checkpointFolder(name) / "manifest.json", paths.removedManifestsFolder() / (name + ".json"));
        fs::remove_all(paths.checkpointFolder(name));
    }

    void copyTracker(const fs::path& target)
    {
        good(good(Database::open(paths.tracker(), {})).backupTo(target, Database::Journal::Wal));
    }

    QTemporaryDir folder_;
    std::int64_t tokens_ = 0; // trained so far
    std::int64_t incarnation_ = 0;
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// A copy of the whole run that one test may change.
struct Changed {
    explicit Changed(const WholeRun& run)
    {
        const auto to = pathFromUtf8(folder.path().toStdString()) / "run";
        fs::copy(run.paths.folder(), to, fs::copy_options::recursive);
        paths = RunPaths(to);
        data = run.root() / "data.txt";
    }

    void sql(const std::string& script) const
    {
        auto db = good(Database::open(paths.tracker(), {}));
        db.script(("PRAGMA foreign_keys=OFF; PRAGMA ignore_check_constraints=ON;" + script).c_str());
        good(db.takeStatus(), "tampering");
    }
    void flip(const fs::path& file) const
    {
        auto bytes = good(readFile(file));
        bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
        write(file, bytes);
    }
    static void write(const fs::path& file, const std::string& bytes)
    {
        std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
    }
    fs::path head(const std::string& name) const { return paths.checkpointFolder("r0-12") / name; }
    fs::path frozen() const { return fs::directory_iterator(paths.frozenFolder())->path(); }
    void editConfig(const std::string& was, const std::string& becomes) const
    {
        auto text = good(readFile(paths.configFile()));
        text.replace(text.find(was), was.size(), becomes);
        write(paths.configFile(), text);
    }
    /// The manifest of the newest checkpoint rewritten; with its hash in the tracker when a careful person does it.
    void editManifest(const std::function<void(CheckpointManifest&)>& edit, bool withHash) const
    {
        auto manifest = good(readManifest(paths.checkpointFolder("r0-12")));
        edit(manifest);
        const auto sizeBefore = fs::file_size(head("manifest.json"));
        const auto text = toJsonText(manifest);
        write(head("manifest.json"), text);
        if (withHash)
            sql("UPDATE checkpoint SET size_bytes=size_bytes+"
                + std::to_string(static_cast<std::int64_t>(text.size()) - static_cast<std::int64_t>(sizeBefore))
                + ", manifest_sha256='" + sha256Hex(text) + "' WHERE folder='r0-12'");
    }
    /// The manifest of any checkpoint rewritten, with its hash and size in the tracker.
    void editAny(const std::string& name, const std::function<void(CheckpointManifest&)>& edit) const
    {
        auto kept = readKeptManifest(paths, name);
        auto manifest = good(std::move(kept.content));
        const auto sizeBefore = fs::file_size(kept.file);
        edit(manifest);
        const auto text = toJsonText(manifest);
        write(kept.file, text);
        sql("UPDATE checkpoint SET size_bytes=size_bytes+"
            + std::to_string(static_cast<std::int64_t>(text.size()) - static_cast<std::int64_t>(sizeBefore))
            + ", manifest_sha256='" + sha256Hex(text) + "' WHERE folder='" + name + "'");
    }
    /// The state of the newest checkpoint rewritten, and every hash fitted to it.
    void editState(const std::function<void(nlohmann::json&)>& edit) const
    {
        auto state = nlohmann::json::parse(good(readFile(head(kStateFile))));
        edit(state);
        const auto text = state.dump();
        const auto sizeBefore = fs::file_size(head(kStateFile));
        write(head(kStateFile), text);
        sql("UPDATE checkpoint SET size_bytes=size_bytes+"
            + std::to_string(static_cast<std::int64_t>(text.size()) - static_cast<std::int64_t>(sizeBefore))
            + " WHERE folder='r0-12'");
        const auto fit = [&text](CheckpointManifest& manifest) {
            for (auto& file : manifest.files)
                if (file.name == kStateFile)
                    file = { kStateFile, text.size(), sha256Hex(text) };
        };
        editManifest(fit, true);
    }
    /// The weights of the newest checkpoint written anew, and every hash fitted to them.
    void editWeights(const std::string& bytes) const
    {
        const auto sizeBefore = fs::file_size(head(kWeightsFile));
        write(head(kWeightsFile), bytes);
        sql("UPDATE checkpoint SET size_bytes=size_bytes+"
            + std::to_string(static_cast<std::int64_t>(bytes.size()) - static_cast<std::int64_t>(sizeBefore))
            + " WHERE folder='r0-12'");
        const auto fit = [&bytes](CheckpointManifest& manifest) {
            for (auto& file : manifest.files)
                if (file.name == kWeightsFile)
                    file = { kWeightsFile, bytes.size(), sha256Hex(bytes) };
        };
        editManifest(fit, true);
    }
    std::vector<fs::path> blocks() const
    {
        std::vector<fs::path> found;
        for (const auto& entry : fs::directory_iterator(BlockManager::blockFolder(paths.cacheFolder())))
            if (entry.path().extension() == ".block")
                found.push_back(entry.path());
        std::sort(found.begin(), found.end());
        return found;
    }

    QTemporaryDir folder;
    RunPaths paths { "" };
    fs::path data;
};

/// A run that goes on from weights of another one and leaves out what that trained; nothing is read or trained yet.
class ChildRun {
public:
    enum class Hash { Kept, NotKept };
    explicit ChildRun(Hash hash = Hash::Kept)
    {
        std::string text;
        for (int i = 0; i < 60; ++i)
            text += std::to_string(i) + " is the number of this line\n";
        Changed::write(root() / "data.txt", text);
        NewRun request;
        request.config.data = { utf8Text(root() / "data.txt") };
        request.config.tokenizer = "byte";
        request.config.heldOutPercent = 0;
        request.config.samplesPerBlock = 20;
        request.config.chunkSamples = 5;
        request.config.devices = "cpu";
        request.config.batchSize = 1;
        request.folder = root() / "run";
        request.preset = "char";
        paths = good(createRun(request, {}));
        good(writeParent(paths, parent()));
        auto file = good(readRunFile(paths));
        file.parentRun = parent().runId;
        if (hash == Hash::Kept)
            file.parentListHash = hashOf(inheritedListOf(parent()));
        good(writeRunFile(paths, file));
        fs::remove(paths.tracker());
        good(SupervisorLedger::create(paths.tracker(), trackerConfig(file, parent()), stoppingRules(file.config)));
    }

    static ParentFile parent()
    {
        ParentFile parent;
        parent.runId = "0123456789abcdef";
        parent.folder = "/elsewhere";
        parent.checkpoint = "r0-4";
        parent.sameData = true;
        parent.skipped = true;
        parent.chunkCount = 4;
        parent.chunks = { { 0, "1-3" }, { 1, "0-2" } };
        return parent;
    }
    void sql(const std::string& script) const
    {
        auto db = good(Database::open(paths.tracker(), {}));
        db.script(script.c_str());
        good(db.takeStatus(), "tampering");
    }
    Status resumed() const
    {
        auto reader = good(LedgerReader::open(paths.tracker()));
        return checkResume(paths, good(readRunFile(paths)), reader, {}, [this] { return audit(paths.tracker()); });
    }
    RunPaths paths { "" };

private:
    fs::path root() const { return pathFromUtf8(folder_.path().toStdString()); }

    QTemporaryDir folder_;
};

/// A run of which all blocks are planned, and nothing is prepared or trained.
class PlannedRun {
public:
    explicit PlannedRun(const std::function<void(RunConfig&)>& change = {})
    {
        std::string text;
        for (int i = 0; i < 60; ++i)
            text += std::to_string(i) + " is the number of this line\n\n";
        Changed::write(root() / "data.txt", text);
        NewRun request;
        request.config.data = { utf8Text(root() / "data.txt") };
        request.config.dataMode = DataMode::Lines;
        request.config.tokenizer = "byte";
        request.config.heldOutPercent = 0;
        request.config.samplesPerBlock = 40;
        request.config.chunkSamples = 10;
        request.config.devices = "cpu";
        request.config.batchSize = 1;
        if (change)
            change(request.config);
        request.folder = root() / "run";
        request.preset = "char";
        paths = good(createRun(request, {}));
        plan(INT64_MAX);
    }

    void sql(const std::string& script) const
    {
        auto db = good(Database::open(paths.tracker(), {}));
        db.script(("PRAGMA foreign_keys=OFF;" + script).c_str());
        good(db.takeStatus(), "tampering");
    }
    ReadPlan planOf(std::int64_t block) const
    {
        auto reader = good(LedgerReader::open(paths.tracker()));
        return good(readPlan(good(reader.block(block)).plan));
    }
    void setPlan(const ReadPlan& plan) const
    {
        sql("UPDATE block SET plan='" + writePlan(plan.block, plan.after)
            + "' WHERE block=" + std::to_string(plan.block.block));
    }
    /// As a tracker that lost the blocks behind some, with all counters that go with them.
    void planOnly(std::int64_t blocks) const
    {
        for (const auto& one : databaseFiles(paths.tracker()))
            fs::remove(one);
        const auto file = good(readRunFile(paths));
        good(SupervisorLedger::create(paths.tracker(), trackerConfig(file, {}), stoppingRules(file.config)));
        plan(blocks);
    }
    /// What each of those who look says of the tracker; all the same, or "".
    std::string damage() const
    {
        const std::string said = good(trackerDamage(paths));
        const std::string refused = trackerRefusal(paths, good(readRunFile(paths)), audit(paths.tracker()));
        const auto report = good(auditRun(paths, AuditDepth::Files));
        const bool agree = said.empty() ? refused.empty() && report.isClean()
                                        : refused.find(said) != std::string::npos && !report.isClean();
        return agree ? said : "doctor: " + said + "\nresume: " + refused + "\naudit: " + auditText(report);
    }
    RunPaths paths { "" };

private:
    fs::path root() const { return pathFromUtf8(folder_.path().toStdString()); }
    void plan(std::int64_t most) const
    {
        const auto file = good(readRunFile(paths));
        auto blocks = good(BlockManager::open(file.config, file.dataManifest, file.samplesPerBlock, paths.cacheFolder(),
            good(loadTokenizer(utf8Text(paths.tokenizer())))));
        auto ledger = good(FeederLedger::open(paths.tracker()));
        std::int64_t count = 0;
        for (auto next = good(blocks.planNext()); next && count < most; next = good(blocks.planNext()), ++count) {
            const NewBlock block { next->block, next->source, next->firstRow, next->chunkRows, next->plan, {} };
            good(ledger.addBlocks({ &block, 1 }));
        }
        good(ledger.setLastBlockProven(count));
        auto supervisor = good(SupervisorLedger::open(paths.tracker()));
        good(supervisor.advance());
        good(supervisor.emptyWal());
    }

    QTemporaryDir folder_;
};

std::string cardOf(const Changed& run, const std::string& checkpoint, const std::function<void(CardOf&)>& change = {})
{
    const auto file = good(readRunFile(run.paths));
    CardOf of { file, file.config, "2 layers", checkpoint };
    if (change)
        change(of);
    return good(modelCard(run.paths, of));
}

/// A free chunk put into another state, with all counters that go with it, and nobody who did it.
void markByHand(const Changed& run, ChunkId chunk, ChunkState state)
{
    const auto place = placeOf(chunk);
    const std::string epoch = " WHERE epoch=" + std::to_string(place.epoch);
    const std::string to = std::to_string(static_cast<int>(state));
    const std::string counters = " SET n1=n1-1, n" + to + "=n" + to + "+1";
    run.sql("UPDATE chunk SET state=" + to + " WHERE id=" + std::to_string(chunk.value) + "; UPDATE epoch" + counters
        + epoch + "; UPDATE counts" + counters + epoch + " AND block=" + std::to_string(place.block)
        + "; UPDATE counts SET wanted=(n1+n2>0)");
}

/// The same in an epoch that has just opened.
void markNewByHand(const Changed& run, ChunkState state)
{
    good(openEpochsUpTo(run.paths.tracker(), 1));
    markByHand(run, chunkIdOf({ 1, 1, 1 }), state);
}

/// A person leaves a chunk of it out, and somebody takes that back in the row and the counters alone.
void leaveOutAndFreeByHand(const Changed& run)
{
    const ChunkId chunk = chunkIdOf({ 1, 1, 1 });
    good(openEpochsUpTo(run.paths.tracker(), 1));
    good(good(SupervisorLedger::open(run.paths.tracker())).exclude({ &chunk, 1 }, "by a person"));
    const std::string counters = " SET n1=n1+1, n5=n5-1";
    run.sql("UPDATE chunk SET state=1 WHERE id=" + std::to_string(chunk.value) + "; UPDATE epoch" + counters
        + " WHERE epoch=1; UPDATE counts" + counters + ", wanted=1 WHERE epoch=1 AND block=1");
}

/// A chunk of it that nobody has trained, changed. @param what  an assignment of SQL
void changeNewByHand(const Changed& run, const std::string& what)
{
    good(openEpochsUpTo(run.paths.tracker(), 1));
    run.sql("UPDATE chunk SET " + what + " WHERE id=" + std::to_string(chunkIdOf({ 1, 1, 1 }).value));
}

enum class Verdict { Wrong, Unreadable, NoLedger };

struct Tampering {
    const char* name;
    Verdict verdict;
    const char* said; ///< part of the text that names it
    std::function<void(const Changed&)> act;
};

const std::vector<Tampering>& tamperings()
{
    using C = const Changed&;
    static const std::vector<Tampering> all {
        { "a bit of the weights", Verdict::Wrong, "weights.safetensors of checkpoint r0-12 is not what was written",
            [](C c) { c.flip(c.head("weights.safetensors")); } },
        { "a bit of the optimizer", Verdict::Wrong, "optimizer.safetensors of checkpoint r0-12 is not what was written",
            [](C c) { c.flip(c.head("optimizer.safetensors")); } },
        { "a bit of the manifest", Verdict::Wrong,
            "the manifest of checkpoint r0-12 is not the one that the tracker recorded",
            [](C c) { c.flip(c.head("manifest.json")); } },
        { "a bit of a removed manifest", Verdict::Wrong,
            "the manifest of checkpoint r0-2 is not the one that the tracker recorded",
            [](C c) { c.flip(c.paths.removedManifestsFolder() / "r0-2.json"); } },
        { "a bit of the frozen weights", Verdict::Wrong, "(the newest is r0-12), is not what was written",
            [](C c) { c.flip(c.frozen()); } },
        { "frozen weights that are cut short", Verdict::Wrong, "(the newest is r0-12), is not what was written",
            [](C c) { fs::resize_file(c.frozen(), 6999); } },
        { "no frozen weights", Verdict::Unreadable, "(the newest is r0-12), could not be inspected",
            [](C c) { fs::remove(c.frozen()); } },
        { "a manifest that names other frozen weights", Verdict::Unreadable, "could not be inspected",
            [](C c) { c.editManifest([](CheckpointManifest& m) { m.frozen->sha256 = sha256Hex("other"); }, true); } },
        { "random bytes as weights", Verdict::Wrong, "weights.safetensors of checkpoint r0-12 is not what was written",
            [](C c) {
                Random random(7);
                std::string bytes(5019, '\0');
                for (char& byte : bytes)
                    byte = static_cast<char>(random.next());
                Changed::write(c.head("weights.safetensors"), bytes);
            } },
        { "no checkpoints at all", Verdict::Unreadable, "the weights of checkpoint r0-12 could not be inspected",
            [](C c) { fs::remove_all(c.paths.checkpointsFolder()); } },
        { "no weights", Verdict::Unreadable, "weights.safetensors of checkpoint r0-12 could not be inspected",
            [](C c) { fs::remove(c.head("weights.safetensors")); } },
        { "an older tracker", Verdict::Wrong, "the tracker is older than the checkpoints",
            [](C c) {
                for (const char* ending : { "", "-wal", "-shm" })
                    fs::remove(c.paths.tracker().string() + ending);
                fs::copy_file(c.paths.folder() / "older.sqlite", c.paths.tracker());
            } },
        { "swapped checkpoints", Verdict::Wrong,
            "the manifest of checkpoint r0-12 is not the one that the tracker recorded",
            [](C c) {
                fs::rename(c.paths.checkpointFolder("r0-12"), c.paths.checkpointFolder("x"));
                fs::rename(c.paths.checkpointFolder("r0-10"), c.paths.checkpointFolder("r0-12"));
                fs::rename(c.paths.checkpointFolder("x"), c.paths.checkpointFolder("r0-10"));
            } },
        { "a manifest edited by hand", Verdict::Wrong, "the manifest of checkpoint r0-12 is not the one",
            [](C c) { c.editManifest([](auto& m) { m.step = 99; }, false); } },
        { "a manifest edited with its hash", Verdict::Wrong, "checkpoint r0-12 has another step in its manifest",
            [](C c) { c.editManifest([](auto& m) { m.step = 99; }, true); } },
        { "parts edited with the hash", Verdict::Wrong, "by its manifest and",
            [](C c) { c.editManifest([](auto& m) { m.parts.pop_back(); }, true); } },
        { "another parent in the manifest", Verdict::Wrong, "another parent",
            [](C c) { c.editManifest([](auto& m) { m.parents = { "r0-8" }; }, true); } },
        { "a state edited with all hashes", Verdict::Wrong,
            "checkpoint r0-12 is damaged: its state.json says tokens 1000000000000000000 and its manifest.json",
            [](C c) { c.editState([](auto& s) { s["tokens"] = 1'000'000'000'000'000'000; }); } },
        { "the state of another checkpoint", Verdict::Wrong,
            "checkpoint r0-12 is damaged: its state.json says step 10 and its manifest.json 12.",
            [](C c) { c.editState([](auto& s) { s["step"] = 10; }); } },
        { "a state that is none", Verdict::Wrong, "state.json cannot be used: it has no key 'step'.",
            [](C c) { c.editState([](auto& s) { s.erase("step"); }); } },
        { "an untrained chunk without windows", Verdict::Wrong, "do not make 0 windows",
            [](C c) { changeNewByHand(c, "windows=0"); } },
        { "an untrained chunk with another number of tokens", Verdict::Wrong, "do not make",
            [](C c) { changeNewByHand(c, "tokens=1"); } },
        { "an untrained chunk with another place", Verdict::Wrong, "its block has 4 chunks",
            [](C c) { changeNewByHand(c, "id=id+90"); } },
        { "an untrained chunk that is gone", Verdict::Wrong, "epoch 2 has 3 of the 4 chunks of block 1",
            [](C c) {
                good(openEpochsUpTo(c.paths.tracker(), 1));
                c.sql("DELETE FROM chunk WHERE id=" + std::to_string(chunkIdOf({ 1, 1, 1 }).value));
            } },
        { "an epoch that is said to be opened still", Verdict::Wrong,
            "epoch 1 is marked as one that is still being opened",
            [](C c) { c.sql("UPDATE epoch SET fully_opened=0"); } },
        { "a part row added", Verdict::Wrong, "are in the surviving weights twice",
            [](C c) {
                c.sql(
                    "INSERT INTO part (claim, first, past, chunk, checkpoint) SELECT claim, first, past, chunk, 6 FROM part WHERE checkpoint=5");
            } },
        { "a part row removed", Verdict::Wrong, "windows are in surviving checkpoints",
            [](C c) { c.sql("DELETE FROM part WHERE claim=3"); } },
        { "a part row moved to another checkpoint", Verdict::Wrong, "by its manifest and",
            [](C c) {
                c.sql("UPDATE part SET checkpoint=5 WHERE claim=12; UPDATE checkpoint SET last_claim=12 WHERE id=5");
            } },
        { "a claim without its part", Verdict::Wrong, "claim 3 was trained, and no checkpoint has a part of it",
            [](C c) { c.sql("DELETE FROM part WHERE claim=3"); } },
        { "a saved claim that is called lost", Verdict::Wrong, "claim 3 ended otherwise by its row than by the events",
            [](C c) { c.sql("UPDATE claim SET outcome=3 WHERE id=3"); } },
        { "a saved claim that is called given back", Verdict::Wrong,
            "claim 3 ended otherwise by its row than by the events",
            [](C c) { c.sql("UPDATE claim SET outcome=2 WHERE id=3"); } },
        { "a saved claim that is called failed", Verdict::Wrong,
            "claim 3 ended otherwise by its row than by the events",
            [](C c) { c.sql("UPDATE claim SET outcome=4 WHERE id=3"); } },
        { "an end that no claim has", Verdict::Wrong, "claim 3 ended otherwise by its row than by the events",
            [](C c) { c.sql("UPDATE claim SET outcome=9 WHERE id=3"); } },
        { "a part row of another chunk", Verdict::Wrong, "which did not train that chunk",
            [](C c) { c.sql("UPDATE part SET chunk=(SELECT max(id) FROM chunk) WHERE claim=1"); } },
        { "a part row that says left out", Verdict::Wrong, "which that claim did not train",
            [](C c) { c.sql("UPDATE part SET skipped=1 WHERE claim=3"); } },
        { "the state of a chunk", Verdict::Wrong, "differ from its chunks",
            [](C c) { c.sql("UPDATE chunk SET state=1 WHERE id=(SELECT min(id) FROM chunk)"); } },
        { "a chunk that nobody left out", Verdict::Wrong,
            "chunk 1 of block 1 (epoch 2) is marked as excluded, and no event says so",
            [](C c) { markNewByHand(c, ChunkState::Excluded); } },
        { "a chunk that nobody could not read", Verdict::Wrong,
            "chunk 1 of block 1 (epoch 2) is marked as poisoned, and no event says so",
            [](C c) { markNewByHand(c, ChunkState::Poisoned); } },
        { "a chunk that nobody accepted as not trained", Verdict::Wrong,
            "chunk 1 of block 1 (epoch 2) is marked as accepted, and no event says so",
            [](C c) { markNewByHand(c, ChunkState::Accepted); } },
        { "a chunk that a person left out, free again", Verdict::Wrong,
            "chunk 1 of block 1 (epoch 2) is free, and its last event says that it is excluded",
            [](C c) { leaveOutAndFreeByHand(c); } },
        { "the counters of a block", Verdict::Wrong, "the counters of block 1 (epoch 1) differ",
            [](C c) { c.sql("UPDATE counts SET n4=n4-1, n1=n1+1, wanted=1 WHERE block=1"); } },
        { "the counters of an epoch", Verdict::Wrong, "epoch 1 counts 7 chunks as committed",
            [](C c) { c.sql("UPDATE epoch SET n4=7"); } },
        { "a block file of another block", Verdict::Wrong, "it was replaced",
            [](C c) {
                const auto files = c.blocks();
                fs::copy_file(files.front(), files.back(), fs::copy_options::overwrite_existing);
            } },
        { "a bit of a block", Verdict::Wrong, "is damaged", [](C c) { c.flip(c.blocks().front()); } },
        { "the fingerprint of a chunk", Verdict::Wrong, "the fingerprints of its samples",
            [](C c) { c.sql("UPDATE chunk SET digest=digest+1 WHERE id=(SELECT min(id) FROM chunk)"); } },
        { "a claim row removed", Verdict::Wrong, "rows were taken out of the history",
            [](C c) { c.sql("DELETE FROM claim WHERE id=4"); } },
        { "the newest claim row removed", Verdict::Wrong, "rows were taken out of the history",
            [](C c) { c.sql("DELETE FROM claim WHERE id=12"); } },
        { "an event removed", Verdict::Wrong, "the table event has",
            [](C c) { c.sql("DELETE FROM event WHERE seq=5"); } },
        { "a checkpoint row with another parent", Verdict::Wrong, "another parent",
            [](C c) {
                c.sql("UPDATE parent SET parent=4 WHERE checkpoint=6; UPDATE checkpoint SET surviving=0 WHERE id=5");
            } },
        { "a checkpoint row removed", Verdict::Wrong, "the table checkpoint has",
            [](C c) { c.sql("DELETE FROM checkpoint WHERE id=3"); } },
        { "the surviving flag", Verdict::Wrong, "is marked as given up",
            [](C c) { c.sql("UPDATE checkpoint SET surviving=0 WHERE id=2"); } },
        { "a removed manifest deleted", Verdict::Unreadable, "the manifest of checkpoint r0-4 could not be inspected",
            [](C c) { fs::remove(c.paths.removedManifestsFolder() / "r0-4.json"); } },
        { "a manifest that is a folder", Verdict::Unreadable, "could not be inspected",
            [](C c) {
                fs::remove(c.head("manifest.json"));
                fs::create_directory(c.head("manifest.json"));
            } },
        { "a folder that leads elsewhere", Verdict::NoLedger, "which is not the name of a folder",
            [](C c) { c.sql("UPDATE checkpoint SET folder='../../elsewhere' WHERE id=6"); } },
        { "another tokenizer", Verdict::Wrong, "is not the tokenizer this run began with",
            [](C c) {
                Changed::write(c.paths.tokenizer(),
                    good(buildCharTokenizer(
                             [n = 0](std::string_view& piece) mutable {
                                 piece = "a";
                                 return n++ == 0;
                             },
                             CharFallback::Bytes))
                        ->definition());
            } },
        { "an edited run.json", Verdict::Wrong, "chunk_samples",
            [](C c) { c.editConfig("\"chunk_samples\": 5", "\"chunk_samples\": 6"); } },
        { "a setting of run.json that a resume may change", Verdict::Wrong, "furrowctl resume --batch-size",
            [](C c) { c.editConfig("\"batch_size\": 2", "\"batch_size\": 3"); } },
        { "the list of files in run.json", Verdict::Wrong, "list of data files",
            [](C c) { c.editConfig("\"modified_ns\": ", "\"modified_ns\": 1"); } },
        { "numbers that add up to more than 64 bits", Verdict::NoLedger, "add up to more than any run has",
            [](C c) { c.sql("UPDATE block SET chunks=9223372036854775807"); } },
        { "an id that no run can have", Verdict::NoLedger, "which no run can have",
            [](C c) { c.sql("UPDATE chunk SET id=9223372036854775000 WHERE id=(SELECT max(id) FROM chunk)"); } },
        { "a trigger that takes parts out when a run goes on", Verdict::NoLedger, "Furrow makes none of",
            [](C c) { c.sql("CREATE TRIGGER t AFTER UPDATE ON chunk BEGIN DELETE FROM part; END"); } },
        { "a view without an end in place of a table", Verdict::NoLedger, "Furrow makes none of",
            [](C c) {
                c.sql(
                    "ALTER TABLE event RENAME TO e2; CREATE VIEW event AS WITH RECURSIVE r(seq) AS (SELECT 1 UNION ALL SELECT seq+1 FROM r) SELECT seq, 0 AS chunk FROM r");
            } },
        { "the seed of the order", Verdict::Wrong, "seed is '99' in the tracker and '1337' by run.json",
            [](C c) { c.sql("UPDATE meta SET value=99 WHERE key='seed'"); } },
        { "the groups of the order", Verdict::Wrong, "shuffle_window_blocks is",
            [](C c) { c.sql("UPDATE meta SET value=value||'0' WHERE key='shuffle_window_blocks'"); } },
        { "no shuffling", Verdict::Wrong, "linear_order is",
            [](C c) { c.sql("UPDATE meta SET value=1-value WHERE key='linear_order'"); } },
        { "a first chunk that nobody chose", Verdict::Wrong, "start_at is '0:1' in the tracker and '' by run.json",
            [](C c) { c.sql("INSERT INTO meta (key, value) VALUES ('start_at', '0:1')"); } },
        { "the length of windows", Verdict::Wrong, "window_tokens is",
            [](C c) { c.sql("UPDATE meta SET value=value+1 WHERE key='window_tokens'"); } },
        { "a letter behind the windows that a claim had", Verdict::Wrong,
            "the windows that claim 3 had, trained or left out are written as nobody writes them",
            [](C c) { c.sql("UPDATE claim SET ranges=ranges||'x' WHERE id=3"); } },
        { "a letter behind the windows that a claim trained", Verdict::Wrong,
            "the windows that claim 3 had, trained or left out are written as nobody writes them",
            [](C c) { c.sql("UPDATE claim SET done=done||'x' WHERE id=3"); } },
        { "an empty range of windows that a claim left out", Verdict::Wrong,
            "the windows that claim 3 had, trained or left out are written as nobody writes them",
            [](C c) { c.sql("UPDATE claim SET skipped='7-7' WHERE id=3"); } },
        { "a list of inherited chunks that cannot be read", Verdict::Wrong,
            "the chunks of block 7 that the parent run trained are written as nobody writes them",
            [](C c) { c.sql("INSERT INTO inherited (block, columns, mark) VALUES (7, '0-2 x', 1)"); } },
        { "more blocks than there are", Verdict::Wrong, "and it has rows of 3",
            [](C c) { c.sql("UPDATE dataset SET block_count=4"); } },
        { "a replica on a checkpoint that never was", Verdict::Wrong, "which the tracker does not have",
            [](C c) { c.sql("UPDATE replica SET head=99"); } },
        { "a replica on an older checkpoint", Verdict::Wrong, "replica 1 should stand on checkpoint 6 or a newer one",
            [](C c) {
                c.sql(
                    "INSERT INTO replica (replica, head) VALUES (1, 3); UPDATE checkpoint SET kind=1, replica=-1 WHERE id=6");
            } },
        { "a replica without weights beside others", Verdict::Wrong,
            "replica 0 should stand on checkpoint 6 or a newer one",
            [](C c) {
                c.sql(
                    "INSERT INTO replica (replica, head) VALUES (1, 6); UPDATE replica SET head=NULL WHERE replica=0");
            } },
        { "the newest weights called removed", Verdict::Wrong,
            "checkpoint 6 is the newest of replica 0 and is marked as removed",
            [](C c) { c.sql("UPDATE checkpoint SET removed=1"); } },
        { "weights of a checkpoint that is called removed", Verdict::Wrong,
            "weights.safetensors of checkpoint r0-12 is not what was written",
            [](C c) {
                c.sql("UPDATE checkpoint SET removed=1");
                c.flip(c.head("weights.safetensors"));
            } },
        { "weights of terabytes that are a hole", Verdict::Wrong, "its size differs",
            [](C c) { fs::resize_file(c.head("weights.safetensors"), std::uintmax_t(1) << 40); } },
        { "an event of more chunks than a block has", Verdict::NoLedger, "chunks of one event",
            [](C c) {
                c.sql("UPDATE event SET count=1000000000000 WHERE seq=(SELECT max(seq) FROM event WHERE chunk<>0)");
            } },
        { "an epoch that does not follow", Verdict::NoLedger, "which no run can have",
            [](C c) { c.sql("UPDATE epoch SET epoch=89999"); } },
        { "the steps of the run", Verdict::Wrong, "the total steps of the run says",
            [](C c) { c.sql("UPDATE budget SET steps=steps-1"); } },
        { "the tokens of the run", Verdict::Wrong, "the total tokens of the run says",
            [](C c) { c.sql("UPDATE budget SET tokens=tokens+1"); } },
        { "the claimed tokens of the run", Verdict::Wrong, "the total claimed_tokens of the run says",
            [](C c) { c.sql("UPDATE budget SET claimed_tokens=0"); } },
        { "the reserved steps of the run", Verdict::Wrong, "the total reserved_steps of the run says",
            [](C c) { c.sql("UPDATE budget SET reserved_steps=5"); } },
        { "the completed blocks of the run", Verdict::Wrong, "the total completed_blocks of the run says",
            [](C c) { c.sql("UPDATE budget SET completed_blocks=2"); } },
        { "the visited blocks of an epoch", Verdict::Wrong, "the meter visited_blocks of epoch 1 says 7",
            [](C c) { c.sql("UPDATE epoch SET visited_blocks=7"); } },
        { "the completed blocks of an epoch", Verdict::Wrong, "the meter completed_blocks of epoch 1 says 1",
            [](C c) { c.sql("UPDATE epoch SET completed_blocks=1"); } },
        { "the rows of an epoch that are known", Verdict::Wrong,
            "the meter known_rows of epoch 1 says 61, the rows of its chunks say 60",
            [](C c) { c.sql("UPDATE epoch SET known_rows=known_rows+1"); } },
        { "the samples of an epoch that are done", Verdict::Wrong,
            "the meter done_samples of epoch 1 says 59, the rows of its chunks say 60",
            [](C c) { c.sql("UPDATE epoch SET done_samples=done_samples-1"); } },
        { "the held-out rows of an epoch", Verdict::Wrong, "the meter done_held_out of epoch 1 says 3",
            [](C c) { c.sql("UPDATE epoch SET done_held_out=3"); } },
        { "an epoch that is not closed any more", Verdict::Wrong,
            "the events close 1 epochs, and 0 are marked as closed",
            [](C c) { c.sql("UPDATE epoch SET closed_wall=NULL"); } },
        { "a block that was not visited", Verdict::Wrong, "block 1 (epoch 1) does not count as visited",
            [](C c) { c.sql("UPDATE counts SET visited=0 WHERE block=1"); } },
        { "the steps of a claim", Verdict::Wrong, "claim 3 says 9 steps",
            [](C c) { c.sql("UPDATE claim SET steps=9 WHERE id=3"); } },
        { "the last step of a claim", Verdict::Wrong, "claim 3 says 1 steps, its windows and steps give 2",
            [](C c) { c.sql("UPDATE claim SET last_step=4 WHERE id=3"); } },
        { "both steps of a claim", Verdict::Wrong, "claim 3 says that it began with step 8",
            [](C c) { c.sql("UPDATE claim SET first_step=8, last_step=8 WHERE id=3"); } },
        { "the steps of a claim with its part and the total", Verdict::Wrong,
            "checkpoint 2 is 2 steps further than what it was made from, its parts have 6",
            [](C c) {
                c.sql(
                    "UPDATE claim SET steps=5, last_step=7 WHERE id=3; UPDATE part SET steps=5 WHERE claim=3; UPDATE budget SET steps=steps+4; UPDATE claim SET first_step=first_step+4, last_step=last_step+4 WHERE id>3");
            } },
        { "the steps of a part", Verdict::Wrong, "checkpoint 2 is 2 steps further",
            [](C c) { c.sql("UPDATE part SET steps=0 WHERE claim=3"); } },
        { "a claim as if nobody had begun it", Verdict::Wrong, "claim 3 was begun and does not say when",
            [](C c) { c.sql("UPDATE claim SET started_wall=0 WHERE id=3"); } },
        { "the samples of a claim", Verdict::Wrong, "claim 3 says 4 samples, its windows and steps give 5",
            [](C c) { c.sql("UPDATE claim SET samples=4 WHERE id=3"); } },
        { "the tokens of a claim", Verdict::Wrong, "claim 3 says 7 tokens",
            [](C c) { c.sql("UPDATE claim SET tokens=7 WHERE id=3"); } },
        { "the loss of a claim", Verdict::Wrong, "its mean loss is not the loss over the tokens",
            [](C c) { c.sql("UPDATE claim SET loss_sum=1 WHERE id=3"); } },
        { "the mean loss of a chunk", Verdict::Wrong, "its mean loss is not the loss over the tokens",
            [](C c) { c.sql("UPDATE chunk SET mean_loss=0.1 WHERE id=(SELECT min(id) FROM chunk)"); } },
        { "how often a chunk was trained", Verdict::Wrong, "says that it was trained 0 times",
            [](C c) { c.sql("UPDATE chunk SET times_trained=0 WHERE id=(SELECT min(id) FROM chunk)"); } },
        { "the newest claim of a chunk", Verdict::Wrong, "names claim 99, which is not one of its claims",
            [](C c) { c.sql("UPDATE chunk SET claim=99 WHERE id=(SELECT min(id) FROM chunk)"); } },
        { "the windows of a claim", Verdict::Wrong, "trained or left out windows that it did not have",
            [](C c) { c.sql("UPDATE claim SET done='0-900' WHERE id=3"); } },
        { "the worker process of a claim", Verdict::Wrong, "claim 3 is of worker process 9",
            [](C c) { c.sql("UPDATE claim SET incarnation=9 WHERE id=3"); } },
        { "the loss of a checkpoint on held-out text", Verdict::Wrong,
            "checkpoint r0-12 has another loss on held-out text in its manifest",
            [](C c) { c.sql("UPDATE checkpoint SET eval_loss=0.5 WHERE id=6"); } },
        { "no loss of a removed checkpoint", Verdict::Wrong,
            "checkpoint r0-2 has another loss on held-out text in its manifest",
            [](C c) { c.sql("UPDATE checkpoint SET eval_loss=NULL WHERE id=1"); } },
        { "the size of a checkpoint", Verdict::Wrong, "checkpoint r0-12 has another size in its manifest",
            [](C c) { c.sql("UPDATE checkpoint SET size_bytes=5 WHERE id=6"); } },
        { "the worker process of a checkpoint", Verdict::Wrong, "was written by worker process 9",
            [](C c) { c.sql("UPDATE checkpoint SET incarnation=9 WHERE id=6"); } },
        { "another worker process of a checkpoint, with its row", Verdict::Wrong,
            "checkpoint r0-12 has another worker process in its manifest",
            [](C c) {
                c.sql(
                    "INSERT INTO incarnation (id, attempt, worker, replica, pid, start_time, boot_id, device, device_name, live, started_wall, lease_until, progress)"
                    " SELECT 2, attempt, worker, replica, 5, start_time, boot_id, device, device_name, 0, started_wall, lease_until, progress FROM incarnation; UPDATE checkpoint SET incarnation=2 WHERE id=6");
            } },
        { "the newest claim of a checkpoint", Verdict::Wrong,
            "checkpoint 5 names claims 9 to 12 and has parts of claims 9 to 10",
            [](C c) { c.sql("UPDATE checkpoint SET last_claim=12 WHERE id=5"); } },
        { "the plan of a block", Verdict::Wrong, "block 1: its plan has other rows or chunks than its row",
            [](C c) { c.sql("UPDATE block SET plan=(SELECT plan FROM block WHERE block=2) WHERE block=1"); } },
        { "where the plan of a block goes on", Verdict::Wrong, "does not end where the next one begins",
            [](C c) { c.sql("UPDATE block SET plan=replace(plan, '\"next\":[[0,', '\"next\":[[7,') WHERE block=0"); } },
        { "a plan that is none", Verdict::Wrong,
            "A block plan of this run cannot be read: it has no key 'v'. Restore tracker.sqlite from a copy",
            [](C c) { c.sql("UPDATE block SET plan='{}' WHERE block=1"); } },
        { "the rows of a block", Verdict::Wrong,
            "block 1 has 4 chunks of 30 rows by its own row, and 4 chunks of 20 rows in epoch 1",
            [](C c) { c.sql("UPDATE block SET rows=30 WHERE block=1"); } },
        { "the first row of a block", Verdict::Wrong, "there is a gap or an overlap",
            [](C c) { c.sql("UPDATE block SET first_row=25 WHERE block=1"); } },
        { "the record of run.json", Verdict::Wrong, "record of run.json was taken out",
            [](C c) { c.sql("DELETE FROM meta WHERE key='frozen'"); } },
        { "a record of run.json that says nothing", Verdict::Wrong, "record of run.json was taken out",
            [](C c) { c.sql("UPDATE meta SET value='{}' WHERE key='frozen'"); } },
        { "the digest of a prepared block", Verdict::Wrong, "block 1 is marked as prepared and has no digest",
            [](C c) { c.sql("UPDATE block SET digest='' WHERE block=1"); } },
        { "chunks that a parent is said to have trained", Verdict::Wrong, "marked as trained by the parent run",
            [](C c) { c.sql("UPDATE chunk SET inherited=1"); } },
        { "a block that is not prepared any more", Verdict::Wrong, "has a prepared file and is not marked as prepared",
            [](C c) { c.sql("UPDATE block SET prepared=0 WHERE block=1"); } },
        { "prepared blocks of the data", Verdict::Wrong,
            "the tracker counts 3 known blocks and 9 prepared ones, it has 3 and 3",
            [](C c) { c.sql("UPDATE dataset SET prepared_blocks=9"); } },
        { "a block row removed", Verdict::Wrong, "the tracker has no row of block 1",
            [](C c) { c.sql("DELETE FROM block WHERE block=1"); } },
        { "the epoch of a chunk", Verdict::Wrong, "is listed in epoch 4",
            [](C c) { c.sql("UPDATE chunk SET epoch=3 WHERE id=(SELECT min(id) FROM chunk)"); } },
        { "no control row", Verdict::Wrong, "the table control has 0 rows", [](C c) { c.sql("DELETE FROM control"); } },
        { "no totals", Verdict::Wrong, "the table budget has 0 rows", [](C c) { c.sql("DELETE FROM budget"); } },
        { "a worker process removed", Verdict::Wrong,
            "was written by worker process 1, which the tracker does not have",
            [](C c) { c.sql("DELETE FROM incarnation"); } },
        { "an attempt removed", Verdict::Wrong, "is of attempt 1, which the tracker does not have",
            [](C c) { c.sql("DELETE FROM attempt"); } },
        { "another held-out text", Verdict::Wrong, "is not the held-out text this run began with",
            [](C c) { Changed::write(c.paths.evaluationFile(), "x"); } },
        { "a held-out text of terabytes that are a hole", Verdict::Wrong,
            "is not the held-out text this run began with",
            [](C c) { fs::resize_file(c.paths.evaluationFile(), std::uintmax_t(1) << 42); } },
        { "another held-out text with its hash", Verdict::Wrong, "held-out text hash",
            [](C c) {
                Changed::write(c.paths.evaluationFile(), "x");
                auto text = good(readFile(c.paths.configFile()));
                const std::string key = "\"held_out_sha256\": \"";
                text.replace(text.find(key) + key.size(), 64, sha256Hex("x"));
                Changed::write(c.paths.configFile(), text);
            } },
        { "no held-out text", Verdict::Unreadable, "heldout.bin", [](C c) { fs::remove(c.paths.evaluationFile()); } },
        { "a state that no chunk can have", Verdict::NoLedger, "which no run can have",
            [](C c) { c.sql("UPDATE chunk SET state=77 WHERE id=(SELECT min(id) FROM chunk)"); } },
    };
    return all;
}

std::string allTexts(const AuditReport& report)
{
    std::string text = auditText(report);
    for (const AuditFinding& finding : report.findings)
        text += finding.text + "\n";
    return text;
}

const AuditInspection* inspectionOf(const AuditReport& report, Evidence what)
{
    const auto found = std::find_if(
        report.inspections.begin(), report.inspections.end(), [what](const auto& one) { return one.what == what; });
    return found == report.inspections.end() ? nullptr : &*found;
}

} // namespace

class TestRunAudit : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void theCardOfAModelSpeaksOfItsOwnWeights()
    {
        const Changed run(whole_);
        const std::string newest = cardOf(run, "r0-12");
        QVERIFY(newest.starts_with("---\nlibrary_name: transformers\n"));
        QVERIFY2(has(newest, "12 steps, ") && has(newest, "is 2.0833 nats"), newest.c_str());
        QVERIFY(has(newest, "is in order") && has(newest, "| 1 | 12 | 12 | 0 | 0 | 0 | 0 | 60 |"));
        QVERIFY(has(newest, "| `data.txt` | ") && has(newest, "Nothing was held out"));
        QVERIFY2(has(newest, "| samples_per_block | `20` |") && !has(newest, "| nan_limit |"),
            newest.c_str()); // nobody chose that
        const auto file = good(readRunFile(run.paths));
        QVERIFY(has(newest, file.dataIdentity)
            && has(newest, good(readManifest(std::string_view(file.dataManifest))).sources[0].files[0].hash));

        const std::string older = cardOf(run, "r0-10"); // not the loss of newer weights, nor what they have seen
        QVERIFY2(has(older, "is 2.1000 nats") && !has(older, "2.0833"), older.c_str());
        QVERIFY(has(older, "| 1 | 12 | 10 | 0 | 0 | 0 | 0 | 50 |"));

        const std::string fresh = cardOf(run, "start weights");
        QVERIFY(has(fresh, "Nothing is trained yet") && !has(fresh, "audit"));
        auto config = good(readRunFile(run.paths)).config;
        config.heldOutPercent = 0.01; // of 60 samples: none
        fs::remove(run.paths.evaluationFile());
        good(freezeHeldOut(config, good(readRunFile(run.paths)).dataManifest,
            *good(loadTokenizer(utf8Text(run.paths.tokenizer()))), run.paths.evaluationFile()));
        const std::string small = cardOf(run, "r0-12");
        QVERIFY2(has(small, "on text that they were trained on is 2.0833") && has(small, "which are trained, too"),
            small.c_str());
        run.sql("UPDATE checkpoint SET eval_loss=NULL");
        QVERIFY(!has(cardOf(run, "r0-12"), "nats"));
    }

    void theCardOfAModelReadsTheLedgerAlone()
    {
        const Changed run(whole_);
        const std::string before = cardOf(run, "r0-12");
        fs::remove_all(run.paths.checkpointsFolder());
        fs::remove_all(run.paths.cacheFolder());
        QCOMPARE(cardOf(run, "r0-12"), before);
        run.sql("UPDATE chunk SET samples=samples+1 WHERE id=(SELECT min(id) FROM chunk)");
        QVERIFY2(has(cardOf(run, "r0-12"), "found something wrong"), cardOf(run, "r0-12").c_str());
        run.sql("UPDATE checkpoint SET surviving=0 WHERE folder='r0-12'");
        QVERIFY(has(cardOf(run, "r0-12"), "went back behind this checkpoint"));
    }

    void theCardOfAModelTellsNothingOfThisMachine()
    {
        const Changed run(whole_);
        const std::string card = cardOf(run, "r0-12", [](CardOf& of) {
            of.config.name = "A name\n---\n<b>";
            of.config.initFrom = "/home/ann/my models/small/";
            of.config.chatTemplate = "/home/ann/my models/small";
            of.config.tokenizer = "/home/ann/my models/tokenizer.json";
            of.config.evalData = "/home/ann/my models/other.txt";
            of.config.samplePrompt = "hf_abcdefghijklmnopqrstuvwxyz0123456789";
            of.config.startAt = "hf_abcdefghijklmnopqrstuvwxyz0123456789";
            auto data = good(readManifest(std::string_view(of.file.dataManifest)));
            const DataFile file = data.sources[0].files[0];
            data.sources[0].spec = "/home/ann/my texts";
            data.sources[0].files = { file, file };
            data.sources[0].files[0].path = "/home/ann/my texts/new/one.txt";
            data.sources[0].files[1].path = "/home/ann/my texts/old/two.txt";
            data.sources.push_back(data.sources[0]);
            data.sources[1].spec = "https://ann:geheim@host/x.txt?token=abc";
            data.sources[1].files = { file };
            data.sources[1].files[0].path = data.sources[1].spec;
            data.sources.push_back(data.sources[1]);
            data.sources[2].spec = "hf://owner/name:config";
            data.sources[2].files[0].path = "hf://owner/name@0123456789012345678901234567890123456789/a.txt";
            of.file.dataManifest = writeManifest(data);
        });
        for (const std::string& hidden :
            { std::string("ann"), std::string("my "), std::string("geheim"), std::string("=abc"), std::string("hf_abc"),
                run.paths.folder().string(), std::string("\n---\n<b>"), std::string("<b>") })
            QVERIFY2(!has(card, hidden), (hidden + " in " + card).c_str());
        for (const char* told : { "`small`", "`tokenizer.json`", "| `new/one.txt` |", "| `old/two.txt` |", "host/x.txt",
                 "datasets:\n- \"owner/name\"\n---\n",
                 "| `hf://owner/name@0123456789012345678901234567890123456789/a.txt`" })
            QVERIFY2(has(card, told), (told + std::string(" not in ") + card).c_str());
    }

    void wholeRunIsProvenByItsFiles()
    {
        const auto report = good(auditRun(whole_.paths, AuditDepth::Files));
        QVERIFY2(report.isClean() && report.couldInspect() && report.inspectedWeights(), auditText(report).c_str());
        QCOMPARE(inspectionOf(report, Evidence::Manifests)->inspected, 6);
        QCOMPARE(inspectionOf(report, Evidence::Parts)->inspected, 6);
        QCOMPARE(inspectionOf(report, Evidence::Weights)->inspected, 1);
        QCOMPARE(inspectionOf(report, Evidence::Blocks)->inspected, 3);
        QVERIFY(!inspectionOf(report, Evidence::Source));
        QVERIFY(auditText(report).starts_with(
            "run " + report.runId + ": every chunk is where it should be, once, and the files are as recorded"));
        QVERIFY(auditHtml(report).find("What was inspected, and how") != std::string::npos);
    }

    void deepAuditReadsTheSourceOnceMore()
    {
        const auto before = Changed(whole_).blocks().size();
        Changed run(whole_);
        for (const auto& block : run.blocks())
            fs::remove(block); // nothing to compare with but the source
        const auto report = good(auditRun(run.paths, AuditDepth::Deep));
        QVERIFY2(report.isClean() && report.couldInspect(), auditText(report).c_str());
        QCOMPARE(inspectionOf(report, Evidence::Source)->inspected, static_cast<std::int64_t>(before));
        QCOMPARE(inspectionOf(report, Evidence::Weights)->inspected, 2); // all that are there
        QVERIFY(inspectionOf(report, Evidence::Weights)->how.find("SHA-256 of 7 files")
            != std::string::npos); // three of each, and the frozen weights once
        QVERIFY(run.blocks().empty()); // and kept nothing of it
    }

    void deepAuditFindsAFingerprintThatTheSourceDoesNotHave()
    {
        Changed run(whole_);
        for (const auto& block : run.blocks())
            fs::remove(block);
        run.sql("UPDATE chunk SET digest=digest+1 WHERE id=(SELECT min(id) FROM chunk)");
        QVERIFY(good(auditRun(run.paths, AuditDepth::Files)).isClean()); // there was nothing to hold it against
        const auto report = good(auditRun(run.paths, AuditDepth::Deep));
        QVERIFY(!report.isClean());
        QVERIFY2(allTexts(report).find("the fingerprints of its samples in the source") != std::string::npos,
            auditText(report).c_str());
    }

    void changedSourceIsWrongAndAnAbsentOneCannotBeInspected()
    {
        const auto bytes = good(readFile(whole_.root() / "data.txt"));
        Changed::write(whole_.root() / "data.txt", bytes + "one more\n");
        const auto changed = auditRun(whole_.paths, AuditDepth::Deep);
        fs::remove(whole_.root() / "data.txt");
        const auto absent = auditRun(whole_.paths, AuditDepth::Deep);
        Changed::write(whole_.root() / "data.txt", bytes);
        QVERIFY(!good(changed).isClean());
        QVERIFY2(good(absent).isClean() && !good(absent).couldInspect(), auditText(good(absent)).c_str());
        QCOMPARE(inspectionOf(good(absent), Evidence::Source)->unreadable, 3); // its blocks
    }

    void aFolderOfCheckpointsThatWasAwayWasSaidOnceForEachManifest()
    {
        const auto manifestsOf = [](const AuditReport& report) { return inspectionOf(report, Evidence::Manifests); };
        Changed run(whole_);
        const auto all = manifestsOf(good(auditRun(run.paths, AuditDepth::Files)))->inspected;
        QVERIFY(all > 2);
        fs::rename(run.paths.checkpointsFolder(), run.paths.folder() / "away");
        const auto report = good(auditRun(run.paths, AuditDepth::Files));
        QVERIFY2(report.isClean() && !report.couldInspect(), auditText(report).c_str());
        QCOMPARE(manifestsOf(report)->unreadable, all);
        QVERIFY2(has(auditText(report), "is not there. Is its disk mounted?"), auditText(report).c_str());
        QVERIFY2(!has(auditText(report), "the manifest of checkpoint"), auditText(report).c_str());
        const std::string loss = good(planResume(run.paths)).loss; // named each checkpoint, with the same question
        QVERIFY2(loss.find("Is its disk mounted?") == loss.rfind("Is its disk mounted?"), loss.c_str());
        const auto problems = good(checkpointProblems(run.paths));
        QVERIFY(has(problems.front(), "Is its disk mounted?"));
        QVERIFY(std::ranges::none_of(problems, [](const Message& one) { return has(one, "no repair can make it"); }));
    }

    void aRunWithoutItsRunJsonWasCalledNoRun()
    {
        Changed run(whole_);
        fs::remove(run.paths.configFile());
        const auto file = readRunFile(run.paths);
        QVERIFY(!file.ok());
        QCOMPARE(file.error().code, ErrorCode::NotFound);
        QVERIFY2(has(file.error().message, "has the tracker of a run and no run.json"), file.error().message.c_str());
    }

    void weightsThatTheDiskDidNotReadAreNotDamaged()
    {
        Changed run(whole_);
        const auto isProven = [&run] {
            const auto report = good(auditRun(run.paths, AuditDepth::Files));
            return report.isClean() && report.couldInspect();
        };
        {
            const test::ReadHook bad(run.head("weights.safetensors"), [] { return EIO; });
            const auto report = good(auditRun(run.paths, AuditDepth::Files));
            QVERIFY2(report.isClean() && !report.couldInspect(), auditText(report).c_str());
            QVERIFY2(has(auditText(report), "could not be inspected: cannot read"), auditText(report).c_str());
            const auto problems = good(checkpointProblems(run.paths));
            QVERIFY(problems.size() == 1 && has(problems.front(), "cannot be read"));
        }
        QVERIFY(isProven()); // it is read again
    }

    void quickAuditSaysThatTheWeightsWereNotInspected()
    {
        Changed run(whole_);
        run.flip(run.head("weights.safetensors"));
        const auto report = good(auditRun(run.paths, AuditDepth::Quick));
        QVERIFY(report.isClean() && !report.inspectedWeights());
        QVERIFY(auditText(report).find("weights not inspected") != std::string::npos);
        QVERIFY(auditJson(report).find("\"weights_inspected\": false") != std::string::npos);
    }

    void auditThatIsStoppedSaysNothing()
    {
        std::stop_source source;
        AuditWatch watch { source.get_token(), [&](const AuditProgress& progress) {
                              if (progress.doing.find("weights") != std::string::npos)
                                  source.request_stop();
                          } };
        const auto report = auditRun(whole_.paths, AuditDepth::Files, watch);
        QVERIFY(!report.ok());
        SAME(report.error().code, ErrorCode::Cancelled);
    }

    /// The audit of a live run was one long read of its tracker: stopped by Ctrl+Z it kept the WAL from being emptied.
    void auditOfALiveRunKeepsNoWal()
    {
        Changed run(whole_);
        const QTemporaryDir temporary;
        qputenv("TMPDIR", temporary.path().toUtf8());
        const auto held = good(FileLock::tryLock(run.paths.supervisorLock()));
        auto db = good(Database::open(run.paths.tracker(), {}));
        bool emptied = false;
        const auto report = good(auditRun(run.paths, AuditDepth::Quick,
            { {}, [&](const AuditProgress& progress) {
                 db.run("UPDATE event SET wall=wall+1 WHERE seq=1");
                 emptied = progress.fraction == 0 && good(db.checkpoint(Database::WalFile::Empty));
             } }));
        qunsetenv("TMPDIR");
        QVERIFY(db.takeStatus().ok() && report.isClean());
        QVERIFY(emptied);
        QVERIFY(QDir(temporary.path()).isEmpty());
    }

    /// The advice was to repair a folder below /tmp that was gone when a person read it.
    void auditOfALiveRunNamesItsOwnTrackerAndNotTheCopy()
    {
        Changed run(whole_);
        run.sql("PRAGMA ignore_check_constraints=ON; UPDATE part SET first=-5 WHERE claim=3");
        const QTemporaryDir temporary;
        qputenv("TMPDIR", temporary.path().toUtf8());
        const auto held = good(FileLock::tryLock(run.paths.supervisorLock()));
        const auto report = auditRun(run.paths, AuditDepth::Quick);
        qunsetenv("TMPDIR");
        const std::string said = report.ok() ? allTexts(report.value()) : report.error().message.text();
        QVERIFY2(said.find("the tracker " + utf8Text(run.paths.tracker()) + " is damaged") != std::string::npos,
            said.c_str());
        QVERIFY2(said.find("furrowctl doctor " + utf8Text(run.paths.folder())) != std::string::npos, said.c_str());
        QVERIFY2(said.find(temporary.path().toStdString()) == std::string::npos, said.c_str());
    }

    /// Six audits of six of a run that saved often said "its manifest cannot be used", and that the tracker was older.
    void checkpointsThatTheRunRemovesMeanwhileAreNoFault_data()
    {
        QTest::addColumn<QString>("when");
        QTest::newRow("before its manifest is read") << QStringLiteral("Reading the manifests");
        QTest::newRow("before its weights are read") << QStringLiteral("Reading the weights of checkpoint r0-10");
    }
    void checkpointsThatTheRunRemovesMeanwhileAreNoFault()
    {
        QFETCH(const QString, when);
        Changed run(whole_);
        bool removed = false;
        const auto report = good(auditRun(run.paths, AuditDepth::Deep,
            { {}, [&](const AuditProgress& progress) {
                 if (std::exchange(removed, removed || progress.doing.starts_with(when.toStdString())) || !removed)
                     return;
                 good(good(SupervisorLedger::open(run.paths.tracker())).markRemoved({ 5 }));
                 fs::rename(run.paths.checkpointFolder("r0-10") / "manifest.json",
                     run.paths.removedManifestsFolder() / "r0-10.json");
                 fs::remove_all(run.paths.checkpointFolder("r0-10"));
             } }));
        QVERIFY(removed);
        QVERIFY2(report.isClean() && report.couldInspect(), auditText(report).c_str());
        QVERIFY2(auditText(report).find("weights of 1 checkpoint that the run itself removed") != std::string::npos,
            auditText(report).c_str());
    }

    /// The tracker knows first that weights go; a moment later the manifest is moved.
    void manifestThatIsNotMovedYetIsNoFault()
    {
        Changed run(whole_);
        good(good(SupervisorLedger::open(run.paths.tracker())).markRemoved({ 5 }));
        const auto report = good(auditRun(run.paths, AuditDepth::Files));
        QVERIFY2(report.isClean() && report.couldInspect(), auditText(report).c_str());
        QCOMPARE(inspectionOf(report, Evidence::Manifests)->inspected, 6);
    }

    void evictedBlockIsNoFault()
    {
        Changed run(whole_);
        fs::remove(run.blocks().front());
        const auto report = good(auditRun(run.paths, AuditDepth::Files));
        QVERIFY2(report.isClean() && report.couldInspect(), auditText(report).c_str());
        QCOMPARE(inspectionOf(report, Evidence::Blocks)->inspected, 2);
    }

    /// doctor called a run whole whose prepared block was damaged, and its repair did not look there.
    void theDoctorDidNotLookAtPreparedBlocks()
    {
        Changed run(whole_);
        QVERIFY(good(blockProblems(run.paths)).empty());
        const auto damaged = run.blocks().front();
        run.flip(damaged);
        const auto problems = good(blockProblems(run.paths));
        QCOMPARE(problems.size(), std::size_t(1));
        QVERIFY2(problems.front().find(damaged.filename().string() + " is damaged") != std::string::npos,
            problems.front().c_str());
        QVERIFY(fs::exists(damaged)); // looking changes nothing
        const auto repaired = good(repairRun(run.paths, [](const std::string&) { }));
        QVERIFY(!repaired.needed);
        QCOMPARE(repaired.notes.size(), std::size_t(1));
        QVERIFY2(repaired.notes.front().find("It was put aside") != std::string::npos, repaired.notes.front().c_str());
        QVERIFY(!fs::exists(damaged));
        const auto kept = [&damaged](const fs::directory_entry& entry) {
            return entry.path().filename().string().starts_with(damaged.filename().string());
        };
        QCOMPARE(std::count_if(fs::directory_iterator(damaged.parent_path()), fs::directory_iterator(), kept), 1);
        QVERIFY(good(blockProblems(run.paths)).empty());
        QVERIFY(good(repairRun(run.paths, [](const std::string&) { })).notes.empty());
    }

    void theDoctorNamesADamagedPlan()
    {
        Changed run(whole_);
        run.sql("UPDATE block SET plan='{}' WHERE block=1");
        const auto problems = good(blockProblems(run.paths));
        QVERIFY2(
            !problems.empty() && problems.front().find("A block plan of this run cannot be read") != std::string::npos,
            problems.empty() ? "" : problems.front().c_str());
    }

    void namedPipeInPlaceOfTheTrackerIsNotWaitedFor()
    {
        Changed run(whole_);
        fs::remove(run.paths.tracker());
        QCOMPARE(::mkfifo(run.paths.tracker().c_str(), 0600), 0);
        const auto report = auditRun(run.paths, AuditDepth::Files);
        QVERIFY(!report.ok());
        QVERIFY2(
            report.error().message.find("not a regular file") != std::string::npos, report.error().message.c_str());
    }

    void aResumeTookATrackerThatGivesChunksOutByAnotherSeed()
    {
        Changed run(whole_);
        const auto file = good(readRunFile(run.paths));
        auto reader = good(LedgerReader::open(run.paths.tracker()));
        const auto audited = [&] { return audit(run.paths.tracker()); };
        good(checkResume(run.paths, file, reader, {}, audited));
        run.sql("UPDATE meta SET value=99 WHERE key='seed'");
        const auto refused = checkResume(run.paths, file, reader, {}, audited);
        QVERIFY(!refused.ok());
        QVERIFY2(refused.error().message.find("seed is '99'") != std::string::npos, refused.error().message.c_str());
    }

    void aResumeWentOnFromATrackerThatDoctorCallsDamaged_data()
    {
        QTest::addColumn<QByteArray>("sql");
        QTest::newRow("marks of what the parent run trained") << QByteArray("UPDATE chunk SET inherited=1");
        QTest::newRow("the newest events are gone")
            << QByteArray("DELETE FROM event WHERE seq>=(SELECT seq FROM event WHERE cause='epoch 1 is complete')");
        QTest::newRow("a saved claim that is called lost") << QByteArray("UPDATE claim SET outcome=3 WHERE id=3");
        QTest::newRow("the row of a checkpoint whose weights were removed") // its manifest says something else
            << QByteArray("UPDATE checkpoint SET step=step+1 WHERE id=2");
        QTest::newRow("a block without a plan") << QByteArray("UPDATE block SET plan='' WHERE block=1");
        QTest::newRow("a block of another source") << QByteArray("UPDATE block SET source=1 WHERE block=1");
        QTest::newRow("an epoch that is said to be opened still") << QByteArray("UPDATE epoch SET fully_opened=0");
    }
    /// Doctor and audit advised a repair, and resume and its dry run said nothing.
    void aResumeWentOnFromATrackerThatDoctorCallsDamaged()
    {
        QFETCH(QByteArray, sql);
        Changed run(whole_);
        const auto file = good(readRunFile(run.paths));
        const auto resumed = [&] {
            auto reader = good(LedgerReader::open(run.paths.tracker()));
            return checkResume(run.paths, file, reader, {}, [&] { return audit(run.paths.tracker()); });
        };
        good(resumed());
        run.sql(sql.toStdString());
        const std::string damage = good(trackerDamage(run.paths));
        QVERIFY(!damage.empty());
        const auto refused = resumed();
        QVERIFY(!refused.ok());
        QVERIFY2(has(refused.error().message, damage) && has(refused.error().message, "--repair"),
            refused.error().message.c_str());
        QVERIFY(good(repairRun(run.paths, [](const std::string&) { }, true)).needed);
        good(resumed());
    }

    /// One edited row made a resume leave out chunks that nobody had trained; audit, doctor and dry run called all
    /// well.
    void theListOfWhatTheParentTrainedWasHeldAgainstNothing_data()
    {
        QTest::addColumn<QByteArray>("sql");
        QTest::addColumn<QString>("said");
        QTest::newRow("more chunks") << QByteArray("UPDATE inherited SET columns='0-4' WHERE block=1")
                                     << QStringLiteral("by the tracker 0-4, which are left out, by parent.json 0-2");
        QTest::newRow("a block that is gone") << QByteArray("DELETE FROM inherited WHERE block=0")
                                              << QStringLiteral("chunks of block 0 that the parent run trained: by the "
                                                                "tracker none, by parent.json 1-3");
        QTest::newRow("one more block") << QByteArray("INSERT INTO inherited VALUES (2, '0-1', 2)")
                                        << QStringLiteral("block 2");
        QTest::newRow("trained again") << QByteArray("UPDATE inherited SET mark=1 WHERE block=0")
                                       << QStringLiteral("1-3, which are trained again");
    }
    void theListOfWhatTheParentTrainedWasHeldAgainstNothing()
    {
        QFETCH(QByteArray, sql);
        QFETCH(QString, said);
        const ChildRun child;
        child.sql(sql.toStdString());
        const std::string damage = good(trackerDamage(child.paths));
        QVERIFY2(has(damage, said.toStdString()), damage.c_str());
        const auto texts = allTexts(good(auditRun(child.paths, AuditDepth::Files)));
        QVERIFY2(has(texts, damage), texts.c_str());
        const auto refused = child.resumed();
        QVERIFY(!refused.ok());
        QVERIFY2(has(refused.error().message, damage), refused.error().message.c_str());
        const auto repaired = good(repairRun(child.paths, [](const std::string&) { }, true));
        QVERIFY2(repaired.needed && has(repaired.basis, "counted anew"), repaired.basis.c_str());
        QVERIFY(good(inheritedList(child.paths.tracker())) == inheritedListOf(child.parent()));
        good(child.resumed());
    }

    /// And a repair of a lost tracker took the forged list.
    void aParentFileThatSomebodyHadChangedWasBelieved_data()
    {
        QTest::addColumn<QString>("was");
        QTest::addColumn<QString>("becomes");
        QTest::newRow("columns") << QStringLiteral("\"1-3\"") << QStringLiteral("\"2-4\"");
        QTest::newRow("the count") << QStringLiteral("\"chunk_count\":4") << QStringLiteral("\"chunk_count\":3");
        QTest::newRow("what was done with them")
            << QStringLiteral("\"skipped\":true") << QStringLiteral("\"skipped\":false");
    }
    void aParentFileThatSomebodyHadChangedWasBelieved()
    {
        QFETCH(QString, was);
        QFETCH(QString, becomes);
        const ChildRun child;
        auto text = QString::fromStdString(good(readFile(child.paths.parentFile())));
        QCOMPARE(text.count(was), 1);
        Changed::write(child.paths.parentFile(), text.replace(was, becomes).toStdString());
        QCOMPARE(good(trackerDamage(child.paths)).text(), std::string()); // it is the other one
        const auto texts = allTexts(good(auditRun(child.paths, AuditDepth::Files)));
        QVERIFY2(has(texts, "parent.json is not the one that this run began with"), texts.c_str());
        const auto problems = good(checkpointProblems(child.paths));
        QVERIFY(std::ranges::any_of(
            problems, [](const Message& one) { return has(one, "is not the one that this run began with"); }));
        QVERIFY(!child.resumed().ok());
        fs::remove(child.paths.tracker());
        const auto repaired = repairRun(child.paths, [](const std::string&) { }, true);
        QVERIFY(!repaired.ok());
        QVERIFY2(has(repaired.error().message, "Put it back from a copy of the run"), repaired.error().message.c_str());
        QVERIFY(!fs::exists(child.paths.tracker()));
    }

    /// Samples of a chunk that the parent run trained in part are trained again; the audit said "0 trained again".
    void samplesThatTheParentRunTrainedInPartWereTrainedAgainUnsaid()
    {
        const ChildRun child;
        const std::string said = "the parent run trained their chunks in part: 7, chunks: 1";
        QVERIFY(!has(allTexts(good(auditRun(child.paths, AuditDepth::Files))), said));
        auto parent = ChildRun::parent();
        parent.partlyChunks = 1;
        parent.partlySamples = 7;
        good(writeParent(child.paths, parent));
        QCOMPARE(good(readParent(child.paths))->partlySamples, 7);
        const auto report = good(auditRun(child.paths, AuditDepth::Files));
        QVERIFY(report.isClean());
        QVERIFY2(has(allTexts(report), said), allTexts(report).c_str());
    }

    /// A run of before has no hash of the list: which of the two is right nobody knows.
    void anOlderRunSaysThatTrackerAndParentFileDisagree()
    {
        const ChildRun child(ChildRun::Hash::NotKept);
        auto report = good(auditRun(child.paths, AuditDepth::Files));
        QVERIFY2(report.isClean(), allTexts(report).c_str());
        QVERIFY(std::ranges::any_of(
            report.notInspected, [](const Message& one) { return has(one, "which chunks the parent run trained"); }));
        good(child.resumed());
        child.sql("UPDATE inherited SET columns='0-4' WHERE block=1");
        report = good(auditRun(child.paths, AuditDepth::Files));
        QVERIFY2(has(allTexts(report), "tracker and parent.json disagree"), allTexts(report).c_str());
        const auto refused = child.resumed();
        QVERIFY(!refused.ok());
        QVERIFY2(has(refused.error().message, "nothing proves one of them"), refused.error().message.c_str());
        QVERIFY(!good(repairRun(child.paths, [](const std::string&) { }, true)).needed);
    }

    /// Audit, doctor and dry run were clean, and the decision was lost.
    void aChunkThatAPersonLeftOutWasFreedByHand()
    {
        Changed run(whole_);
        leaveOutAndFreeByHand(run);
        const std::string damage = good(trackerDamage(run.paths));
        QVERIFY2(has(damage, "its last event says that it is excluded"), damage.c_str());
        const auto repaired = good(repairRun(run.paths, [](const std::string&) { }, true));
        QVERIFY2(repaired.needed && has(repaired.basis, "counted anew"), repaired.basis.c_str());
        const auto leftOut
            = good(Database::open(run.paths.tracker(), {})).integer("SELECT count(*) FROM chunk WHERE state=5");
        QCOMPARE(leftOut.value_or(0), 1);
        QCOMPARE(good(trackerDamage(run.paths)).text(), std::string());
    }

    /// Each look at the old and the new tracker packed all prepared blocks once more.
    void aRepairReadThePreparedBlocksUpToFiveTimes()
    {
        const WholeRun whole([](RunConfig& config) { config.packing = Packing::Single; });
        Changed run(whole);
        changeNewByHand(run, "windows=windows+1");
        good(recount(run.paths.tracker()));
        const auto block = run.blocks().at(1);
        const auto readsDuring = [&block](const std::function<void()>& act) {
            std::atomic<int> count = 0;
            const test::ReadHook hook(block, [&count] {
                ++count;
                return 0;
            });
            act();
            return count.load();
        };
        const int onePass = readsDuring([&run] {
            auto reader = good(LedgerReader::open(run.paths.tracker()));
            QVERIFY(!good(differenceFromBlocks(run.paths, good(readRunFile(run.paths)), reader)).empty());
        });
        const int proof = readsDuring([&run] { (void)good(blockProblems(run.paths)); });
        QVERIFY(onePass > 0);
        const int inRepair = readsDuring([&run] {
            const auto repaired = good(repairRun(run.paths, [](const std::string&) { }));
            QVERIFY(repaired.needed && has(repaired.basis, "counted anew"));
        });
        QVERIFY2(inRepair < 2 * onePass + proof, std::to_string(inRepair).c_str());
    }

    /// Where one manifest was changed, all of them were read again for each checkpoint that could be chosen.
    void theDryRunReadEachManifestOnceForEachCheckpoint()
    {
        Changed run(whole_);
        const auto kept = run.paths.removedManifestsFolder();
        const auto readsOfOne = [&] {
            std::atomic<int> count = 0;
            const test::ReadHook hook(kept / "r0-2.json", [&count] {
                ++count;
                return 0;
            });
            good(planResume(run.paths));
            return count.load();
        };
        const int before = readsOfOne();
        QVERIFY(before > 0);
        const auto changed = kept / "r0-8.json";
        Changed::write(changed, good(readFile(changed)) + " ");
        QCOMPARE(readsOfOne(), before);
        auto reader = good(LedgerReader::open(run.paths.tracker()));
        const auto lost = good(LostProof::find(run.paths, good(readRunFile(run.paths)), reader));
        QVERIFY(lost.of(CheckpointId { 3 }).empty());
        QVERIFY(has(lost.of(CheckpointId { 4 }), "r0-8") && has(lost.of(), "r0-8"));
    }

    /// They began again at 1, so that a later repair could take weights that the run had left for the newest ones.
    void aTrackerMadeAnewGaveTheNumbersOfProcessesAgain_data()
    {
        QTest::addColumn<QString>("newest");
        QTest::newRow("of weights that are there") << QStringLiteral("r0-12");
        QTest::newRow("of weights that were put aside") << QStringLiteral("unknown/r0-13");
    }
    void aTrackerMadeAnewGaveTheNumbersOfProcessesAgain()
    {
        QFETCH(QString, newest);
        Changed run(whole_);
        auto manifest = good(readManifest(run.paths.checkpointFolder("r0-12")));
        manifest.incarnation = 7;
        const auto folder = run.paths.checkpointFolder(newest.toStdString());
        fs::create_directories(folder);
        Changed::write(folder / "manifest.json", toJsonText(manifest));
        for (const char* ending : { "", "-wal", "-shm" })
            fs::remove(run.paths.tracker().string() + ending);
        good(repairRun(run.paths, [](const std::string&) { }, true));
        const auto attempt = good(good(SupervisorLedger::open(run.paths.tracker())).beginAttempt(thisProcess(), "{}"));
        auto worker = good(WorkerLedger::open(run.paths.tracker(), manifest.runId));
        QVERIFY(good(worker.start({ attempt, 0, 0, "cpu", "test" }, 600))->value > 7);
        const auto report = good(audit(run.paths.tracker()));
        QVERIFY2(report.isClean(), auditText(report).c_str());
    }

    /// The audit gave one error and no report, and doctor called the run whole.
    void aDamagedListOfDuplicatesEndedTheAudit()
    {
        const WholeRun whole([](RunConfig& config) {
            config.duplicates = Duplicates::Skip;
            auto text = good(readFile(pathFromUtf8(config.data.front())));
            const std::string line = "3 is the number of this line\n";
            text.replace(text.find("\n4 is") + 1, line.size(), line); // the fourth text occurs twice
            Changed::write(pathFromUtf8(config.data.front()), text);
        });
        Changed run(whole);
        QVERIFY(good(auditRun(run.paths, AuditDepth::Files)).isClean());
        auto list = good(readFile(run.paths.duplicatesFile()));
        list[20] = static_cast<char>(list[20] ^ 1); // behind the header: of a page
        Changed::write(run.paths.duplicatesFile(), list);
        const auto report = good(auditRun(run.paths, AuditDepth::Files));
        QVERIFY2(has(allTexts(report), "is damaged: the checksum of a page differs"), allTexts(report).c_str());
        QVERIFY(inspectionOf(report, Evidence::Blocks)->inspected > 0);
        const auto problems = good(blockProblems(run.paths));
        QVERIFY(std::ranges::any_of(problems, [](const Message& one) { return has(one, "The next resume makes it"); }));
    }

    void aRepairBelievedATrackerThatTheManifestsDeny_data()
    {
        QTest::addColumn<QByteArray>("sql");
        QTest::addColumn<QString>("said");
        const char* const chunk = "(SELECT chunk FROM claim WHERE id=3)";
        QTest::newRow("the part of a chunk is gone") // its windows were trained again, into the same weights
            << QByteArray("DELETE FROM part WHERE claim=3; UPDATE chunk SET state=1, covered=0 WHERE id=") + chunk
            << QStringLiteral("claim 3 was trained, and no checkpoint has a part of it");
        QTest::newRow("a chunk is free that checkpoints have") // it was claimed and given back for ever
            << QByteArray("UPDATE chunk SET state=1 WHERE id=") + chunk
            << QStringLiteral("is free, and surviving checkpoints have all of its windows");
    }
    /// The counters were counted anew and the rest was taken for true: "the tracker is whole".
    void aRepairBelievedATrackerThatTheManifestsDeny()
    {
        QFETCH(QByteArray, sql);
        QFETCH(QString, said);
        Changed run(whole_);
        const auto committed = [&run] {
            return good(Database::open(run.paths.tracker(), {})).integer("SELECT count(*) FROM chunk WHERE state=4");
        };
        const auto before = committed();
        run.sql(sql.toStdString());
        good(recount(run.paths.tracker()));
        const std::string damage = good(trackerDamage(run.paths));
        QVERIFY2(has(damage, said.toStdString()), damage.c_str());
        QVERIFY(good(repairRun(run.paths, [](const std::string&) { })).needed);
        QCOMPARE(committed(), before);
        const auto report = good(auditRun(run.paths, AuditDepth::Files));
        QVERIFY2(report.isClean(), allTexts(report).c_str());
    }

    void aPartThatIsNotThatOfItsManifestIsFoundWithoutTheLedger()
    {
        Changed run(whole_);
        auto reader = good(LedgerReader::open(run.paths.tracker()));
        const auto runId = good(readRunFile(run.paths)).runId;
        QVERIFY(good(differenceFromManifests(run.paths, runId, reader)).empty());
        run.sql("UPDATE part SET past=past-1 WHERE claim=3");
        const std::string said = good(differenceFromManifests(run.paths, runId, reader));
        QVERIFY2(has(said, " by its manifest and "), said.c_str());
    }

    /// It was passed over in the next epochs too, and the run called complete: nobody claims what has no windows.
    void aChunkThatSaidItHadNothingToTrainWasNeverTrained()
    {
        Changed run(whole_);
        changeNewByHand(run, "windows=0");
        for (const auto& block : run.blocks()) // the proof does not need them
            fs::remove(block);
        const std::string damage = good(trackerDamage(run.paths));
        QVERIFY2(has(damage, "do not make 0 windows"), damage.c_str());
        QVERIFY(good(repairRun(run.paths, [](const std::string&) { }, true)).needed);
        const auto report = good(auditRun(run.paths, AuditDepth::Files));
        QVERIFY2(report.isClean(), allTexts(report).c_str());
    }

    void whatAnUntrainedChunkPacksIntoWasWrongForTheAuditAlone_data()
    {
        QTest::addColumn<QString>("change");
        QTest::newRow("windows") << QStringLiteral("windows=windows+1");
        QTest::newRow("tokens") << QStringLiteral("tokens=tokens+7");
        QTest::newRow("rows") << QStringLiteral("samples=samples-1, filtered=filtered+1");
    }
    /// Where samples do not lie end to end. Doctor and resume called such a tracker whole, and no repair made it so.
    void whatAnUntrainedChunkPacksIntoWasWrongForTheAuditAlone()
    {
        QFETCH(QString, change);
        const WholeRun whole([](RunConfig& config) { config.packing = Packing::Single; });
        Changed run(whole);
        const auto file = good(readRunFile(run.paths));
        const auto resumed = [&] {
            auto reader = good(LedgerReader::open(run.paths.tracker()));
            return checkResume(run.paths, file, reader, {}, [&] { return audit(run.paths.tracker()); });
        };
        const auto figures = [&run] {
            auto db = good(Database::open(run.paths.tracker(), {}));
            Rows row = db.query(
                "SELECT group_concat(windows||'/'||tokens||'/'||samples) FROM chunk WHERE id>200000000000000");
            return row.next() ? row.text(0) : std::string();
        };
        good(openEpochsUpTo(run.paths.tracker(), 1));
        good(resumed());
        QCOMPARE(good(trackerDamage(run.paths)).text(), std::string());
        const auto before = figures();
        changeNewByHand(run, change.toStdString());
        good(recount(run.paths.tracker())); // what was changed fits the counters: the ledger alone shows nothing
        QVERIFY(good(audit(run.paths.tracker())).isClean());
        const std::string damage = good(trackerDamage(run.paths));
        QVERIFY2(has(damage, "in the prepared block are not those that the tracker recorded"), damage.c_str());
        QVERIFY(!resumed().ok());
        const auto repaired = good(repairRun(run.paths, [](const std::string&) { }));
        QVERIFY2(repaired.needed && has(repaired.basis, "counted anew"), repaired.basis.c_str());
        QCOMPARE(figures(), before);
        good(resumed());
        const auto report = good(auditRun(run.paths, AuditDepth::Files));
        QVERIFY2(report.isClean(), allTexts(report).c_str());
    }

    /// Every check passed it, and when the chunk was trained its good block was blamed for ever.
    void theFingerprintOfAnUntrainedChunkWasHeldAgainstNothing()
    {
        Changed run(whole_);
        const auto file = good(readRunFile(run.paths));
        const auto fingerprints = [&run] {
            auto db = good(Database::open(run.paths.tracker(), {}));
            Rows row = db.query("SELECT group_concat(digest) FROM chunk WHERE id>200000000000000");
            return row.next() ? row.text(0) : std::string();
        };
        good(openEpochsUpTo(run.paths.tracker(), 1));
        const auto before = fingerprints();
        changeNewByHand(run, "digest=digest+1");
        QVERIFY(fingerprints() != before);
        QVERIFY(good(audit(run.paths.tracker())).isClean());
        const std::string said
            = "the fingerprints of its samples in the prepared block are not those that the tracker recorded; as a whole";
        const std::string damage = good(trackerDamage(run.paths));
        QVERIFY2(has(damage, said), damage.c_str());
        QVERIFY(has(allTexts(good(auditRun(run.paths, AuditDepth::Files))), said));
        const auto resumed = [&] {
            auto reader = good(LedgerReader::open(run.paths.tracker()));
            return checkResume(run.paths, file, reader, {}, [&run] { return audit(run.paths.tracker()); });
        };
        QVERIFY(!resumed().ok());
        const auto repaired = good(repairRun(run.paths, [](const std::string&) { }));
        QVERIFY2(repaired.needed && has(repaired.basis, "counted anew"), repaired.basis.c_str());
        QCOMPARE(fingerprints(), before);
        const auto report = good(auditRun(run.paths, AuditDepth::Deep));
        QVERIFY2(report.isClean(), allTexts(report).c_str());
    }

    /// The advice was 'furrowctl doctor --repair', which did nothing. It mends the row where the source proves the
    /// block.
    void aTrainedChunkWithAChangedFingerprintBlamedItsGoodBlockForEver()
    {
        Changed run(whole_);
        const std::string change = "UPDATE chunk SET digest=digest+1 WHERE id=(SELECT min(id) FROM chunk)";
        run.sql(change);
        const auto isClean = [&run] { return good(auditRun(run.paths, AuditDepth::Deep)).isClean(); };
        const auto said = allTexts(good(auditRun(run.paths, AuditDepth::Deep)));
        QVERIFY2(
            has(said, "the fingerprints of its samples in the source are not") && has(said, "its row of the chunk"),
            said.c_str());
        const auto tells = [](const std::vector<Message>& texts, const char* part) {
            return std::ranges::any_of(texts, [part](const Message& one) { return has(one, part); });
        };
        const auto repaired = good(repairRun(run.paths, [](const std::string&) { }));
        QVERIFY(!repaired.needed && tells(repaired.notes, "Rows of trained chunks"));
        QVERIFY(!tells(repaired.problems, "the fingerprints of its samples"));
        QVERIFY(isClean());

        run.sql(change);
        const auto bytes = good(readFile(run.data));
        Changed::write(run.data, bytes + "one more\n"); // proves nothing any more
        const auto left = good(repairRun(run.paths, [](const std::string&) { }));
        Changed::write(run.data, bytes);
        QVERIFY(
            tells(left.problems, "the fingerprints of its samples") && !tells(left.notes, "Rows of trained chunks"));
    }

    void deepAuditHoldsAnUntrainedFingerprintAgainstTheSource()
    {
        Changed run(whole_);
        good(openEpochsUpTo(run.paths.tracker(), 1));
        changeNewByHand(run, "digest=digest+1");
        for (const auto& block : run.blocks())
            fs::remove(block);
        QVERIFY(good(auditRun(run.paths, AuditDepth::Files)).isClean()); // there was nothing to hold it against
        const auto said = allTexts(good(auditRun(run.paths, AuditDepth::Deep)));
        QVERIFY2(
            has(said, "the fingerprints of its samples in the source are not") && has(said, "its row of the chunk"),
            said.c_str());
    }

    void noHealthyPlanIsCalledDamaged_data()
    {
        QTest::addColumn<std::function<void(RunConfig&)>>("change");
        const auto row = [](const char* name, std::function<void(RunConfig&)> change) {
            QTest::newRow(name) << std::move(change);
        };
        row("lines", [](RunConfig&) { });
        row("blank lines at the end", [](RunConfig& config) {
            config.dataMode = DataMode::Paragraphs;
            config.samplesPerBlock = 20;
        });
        row("spans", [](RunConfig& config) {
            config.dataMode = DataMode::Span;
            config.spanBytes = 32;
            config.samplesPerBlock = 20;
        });
        row("no more rows than some", [](RunConfig& config) { config.maxSamples = 80; });
        row("rows before the first", [](RunConfig& config) { config.startSample = 30; });
    }
    void noHealthyPlanIsCalledDamaged()
    {
        QFETCH(std::function<void(RunConfig&)>, change);
        const PlannedRun run(change);
        QCOMPARE(run.damage(), std::string());
    }

    void theRowsOfOneBlockWereTrainedInPlaceOfThoseOfTheNext_data()
    {
        QTest::addColumn<int>("bytes");
        QTest::newRow("no byte has 40 rows") << 0;
        QTest::newRow("39 bytes have 40 rows") << 39;
        QTest::newRow("40 bytes have more bytes of text") << 40;
    }
    /// The plan of a block led back to the one before it, which ended where it began: only a deep audit saw it.
    void theRowsOfOneBlockWereTrainedInPlaceOfThoseOfTheNext()
    {
        QFETCH(int, bytes);
        const PlannedRun run;
        ReadPlan one = run.planOf(1);
        ReadPlan two = run.planOf(2);
        const Segment& first = one.block.segments.front();
        one.after.front().position = first.position + static_cast<std::uint64_t>(bytes);
        two.block.segments.front().position = one.after.front().position;
        two.block.segments.front().hash = first.hash;
        run.setPlan(one);
        run.setPlan(two);
        const auto damage = run.damage();
        QVERIFY2(damage.starts_with("block 1: its plan has the same place of its source twice"), damage.c_str());
    }

    /// The last block and its counters were deleted: the run was complete without its rows, and only a deep audit saw
    /// it.
    void blocksTakenOutAtTheEndWereNeverTrained()
    {
        const PlannedRun run; // 120 lines, half of them blank
        run.planOnly(2);
        QVERIFY(good(audit(run.paths.tracker())).isClean());
        const auto damage = run.damage();
        QVERIFY2(has(damage, "data.txt goes on after block 1, which the tracker calls the last one"), damage.c_str());
    }

    /// Where the size of the file does not say so.
    void blocksThatTheSnapshotKnowsWereTakenOut()
    {
        const PlannedRun run([](RunConfig& config) {
            config.dataMode = DataMode::Paragraphs;
            config.samplesPerBlock = 20;
        });
        good(good(Database::open(run.paths.tracker(), {})).backupTo(run.paths.trackerSnapshot()));
        QCOMPARE(run.damage(), std::string());
        run.planOnly(2);
        const auto damage = run.damage();
        QVERIFY2(has(damage, "complete with 2 blocks, and its last snapshot (view.sqlite) knows 3"), damage.c_str());
    }

    /// A repair with this program would plan the data anew.
    void aPlanOfANewerFurrowIsNoDamage()
    {
        Changed run(whole_);
        run.sql("UPDATE block SET plan=json_set(plan, '$.v', 99) WHERE block=1");
        const auto damage = trackerDamage(run.paths);
        QVERIFY(!damage.ok());
        QVERIFY2(has(damage.error().message, "newer Furrow"), damage.error().message.c_str());
        const auto refused = repairRun(run.paths, [](const std::string&) { });
        QVERIFY(!refused.ok());
    }

    /// A manifest in checkpoints/removed that somebody had changed: audit called it wrong, doctor whole, and the resume
    /// went on.
    void aResumeWentOnBesideAManifestThatIsNotTheOneRecorded()
    {
        Changed run(whole_);
        const auto file = good(readRunFile(run.paths));
        run.flip(run.paths.removedManifestsFolder() / "r0-2.json");
        const auto resumed = [&](bool acceptLoss) {
            auto reader = good(LedgerReader::open(run.paths.tracker()));
            return checkResume(
                run.paths, file, reader, { .acceptLoss = acceptLoss }, [&] { return audit(run.paths.tracker()); });
        };
        const auto refused = resumed(false);
        QVERIFY(!refused.ok());
        for (const char* part : { "the manifest of checkpoint r0-2 is not the one", "--accept-loss" })
            QVERIFY2(has(refused.error().message, part), refused.error().message.c_str());
        good(resumed(true)); // a person's yes: by the tracker alone
        const auto problems = good(checkpointProblems(run.paths));
        QVERIFY(std::ranges::any_of(problems, [](const Message& said) { return has(said, "checkpoint r0-2"); }));
        const auto plan = good(planResume(run.paths));
        QVERIFY(!plan.verdict({}).ok() && plan.verdict({ .acceptLoss = true }).ok());
    }

    /// No younger manifest keeps the hash of the newest one: nobody noticed.
    void theNewestManifestWasChangedTogetherWithItsRow()
    {
        Changed run(whole_);
        const auto file = good(readRunFile(run.paths));
        good(good(Database::open(run.paths.tracker(), {})).backupTo(run.paths.trackerSnapshot()));
        const auto resumed = [&](bool acceptLoss) {
            auto reader = good(LedgerReader::open(run.paths.tracker()));
            return checkResume(
                run.paths, file, reader, { .acceptLoss = acceptLoss }, [&] { return audit(run.paths.tracker()); });
        };
        good(resumed(false));
        run.editManifest([](CheckpointManifest& manifest) { manifest.evalLoss = 0.5; }, true);
        run.sql("UPDATE checkpoint SET eval_loss=0.5 WHERE folder='r0-12'");
        const std::string said = "checkpoint r0-12 has another manifest by the tracker than by its last snapshot";
        QVERIFY(has(allTexts(good(auditRun(run.paths, AuditDepth::Files))), said));
        const auto refused = resumed(false);
        QVERIFY(!refused.ok());
        QVERIFY2(has(refused.error().message, said), refused.error().message.c_str());
        QVERIFY(std::ranges::any_of(
            good(checkpointProblems(run.paths)), [&said](const Message& one) { return has(one, said); }));
        good(resumed(true));
    }

    void anOlderCheckpointWasChangedTogetherWithItsRow_data()
    {
        QTest::addColumn<QString>("folder");
        QTest::addColumn<qint64>("number");
        QTest::addColumn<QString>("said");
        QTest::newRow("removed") << QStringLiteral("r0-6") << qint64(3)
                                 << QStringLiteral("the manifest of checkpoint r0-6 is not the one that its child r0-8 "
                                                   "was made from: r0-6 was changed together with its row in the "
                                                   "tracker, for checkpoint r0-10 was made from the child as it is");
        QTest::newRow("with weights") << QStringLiteral("r0-10") << qint64(5)
                                      << QStringLiteral(
                                             "the manifest of checkpoint r0-10 is not the one that its child "
                                             "r0-12 was made from: one of the two was changed");
    }
    /// Its child keeps the hash of the manifest that it was made from. Nobody but a repair compared it: audit and
    /// doctor called the run whole, and a resume went on from the changed weights.
    void anOlderCheckpointWasChangedTogetherWithItsRow()
    {
        QFETCH(QString, folder);
        QFETCH(qint64, number);
        QFETCH(QString, said);
        Changed run(whole_);
        const auto file = good(readRunFile(run.paths));
        const auto resumedFrom = [&](std::optional<CheckpointId> checkpoint, bool acceptLoss = false) {
            auto reader = good(LedgerReader::open(run.paths.tracker()));
            return checkResume(run.paths, file, reader, { .goBackTo = checkpoint, .acceptLoss = acceptLoss },
                [&] { return audit(run.paths.tracker()); });
        };
        good(resumedFrom(CheckpointId { number }));
        run.editAny(folder.toStdString(), [](CheckpointManifest& manifest) {
            manifest.files.front().sha256 = std::string(manifest.files.front().sha256.size(), '0');
        });
        const std::string expected = said.toStdString();
        const auto report = good(auditRun(run.paths, AuditDepth::Files));
        QVERIFY(!report.isClean());
        QVERIFY2(has(allTexts(report), expected), allTexts(report).c_str());
        QVERIFY(std::ranges::any_of(
            good(checkpointProblems(run.paths)), [&expected](const Message& one) { return has(one, expected); }));
        for (const auto& refused : { resumedFrom(std::nullopt), resumedFrom(CheckpointId { number }) })
            QVERIFY2(!refused.ok() && has(refused.error().message, expected) && has(refused.error().message, "older"),
                refused.ok() ? "went on" : refused.error().message.c_str());
        good(resumedFrom(CheckpointId { number - 1 }));
        good(resumedFrom(std::nullopt, true)); // a person's yes
    }

    void aChangedChildIsToldFromAChangedParent()
    {
        Changed run(whole_);
        run.editAny("r0-12", [](CheckpointManifest& manifest) { manifest.parentManifests = { std::string(64, 'a') }; });
        run.sql(
            "UPDATE checkpoint SET surviving=0 WHERE id=6; INSERT INTO checkpoint SELECT 7, kind, replica, incarnation, 'r0-11', manifest_sha256, step, tokens, eval_loss, size_bytes, wall, 0, damaged, 1, pinned, first_claim, last_claim FROM checkpoint WHERE id=6");
        auto sibling = good(readManifest(run.paths.checkpointFolder("r0-12")));
        sibling.parentManifests = { manifestSha256(run.paths, "r0-10") };
        Changed::write(keptManifest(run.paths, "r0-11"), toJsonText(sibling));
        run.sql("UPDATE checkpoint SET manifest_sha256='" + sha256Hex(toJsonText(sibling)) + "' WHERE id=7");
        const auto rows = good(good(LedgerReader::open(run.paths.tracker())).checkpoints());
        const auto found = manifestFaults(run.paths, rows).otherThanChildrenSay;
        QCOMPARE(std::ssize(found), std::ptrdiff_t(1));
        QVERIFY2(
            has(found.front().problem, "r0-12 was changed together with its row in the tracker, for checkpoint r0-11"),
            found.front().problem.c_str());
    }

    /// One of a version that did not keep it, and one of which the file is another one: that is said of itself.
    void aChildThatKeepsNoHashOfItsParentIsNoFault()
    {
        Changed run(whole_);
        run.editAny("r0-12", [](CheckpointManifest& manifest) { manifest.parentManifests.clear(); });
        const auto report = good(auditRun(run.paths, AuditDepth::Files));
        QVERIFY2(report.isClean() && report.couldInspect(), auditText(report).c_str());
        run.flip(run.paths.removedManifestsFolder() / "r0-2.json");
        auto reader = good(LedgerReader::open(run.paths.tracker()));
        QVERIFY(manifestFaults(run.paths, good(reader.checkpoints())).otherThanChildrenSay.empty());
    }

    /// Its hash stands in run.json and in the tracker alone, and --deep read the whole source beside it.
    void aForgedHeldOutTextWasHeldAgainstItsOwnHash()
    {
        const WholeRun whole([](RunConfig& config) { config.heldOutPercent = 10; });
        Changed run(whole);
        const auto file = good(readRunFile(run.paths));
        const auto honest = good(auditRun(run.paths, AuditDepth::Deep));
        QVERIFY2(honest.isClean() && honest.couldInspect(), auditText(honest).c_str());
        QVERIFY2(has(inspectionOf(honest, Evidence::Frozen)->how, "set aside from the data once more"),
            auditText(honest).c_str());
        QVERIFY(
            has(auditText(good(auditRun(run.paths, AuditDepth::Files))), "the held-out text against the data: --deep"));

        auto other = file.config;
        other.heldOutPercent = 50;
        good(freezeHeldOut(other, file.dataManifest, *good(loadTokenizer(utf8Text(run.paths.tokenizer()))),
            run.paths.evaluationFile()));
        const auto forged = good(sha256File(run.paths.evaluationFile()));
        run.sql("UPDATE meta SET value=replace(value, '" + file.heldOutHash + "', '" + forged + "')");
        run.editConfig(file.heldOutHash, forged);
        QVERIFY(good(auditRun(run.paths, AuditDepth::Files)).isClean()); // nothing else speaks of it
        const auto said = allTexts(good(auditRun(run.paths, AuditDepth::Deep)));
        QVERIFY2(has(said, "the held-out text in heldout.bin is not what the data of the run give"), said.c_str());

        Changed::write(whole.root() / "data.txt", "another text\n");
        const auto unread = good(auditRun(run.paths, AuditDepth::Deep));
        QVERIFY2(!has(allTexts(unread), "is not what the data of the run give")
                && has(auditText(unread), "the held-out text against the data: "),
            auditText(unread).c_str());
    }

    /// Without view.sqlite nothing is a second witness of the newest manifest, and the report was the same.
    void aSnapshotThatWasDeletedWasNotMissed()
    {
        Changed run(whole_);
        const auto snapshot = run.paths.trackerSnapshot();
        const auto said = [&run] {
            const auto report = good(auditRun(run.paths, AuditDepth::Files));
            const auto one = std::ranges::find_if(report.notInspected,
                [](const Message& text) { return has(text, "against the last snapshot of the tracker"); });
            if (!report.isClean() || !report.couldInspect())
                return auditText(report);
            return one == report.notInspected.end() ? std::string("all inspected") : one->text();
        };
        QVERIFY2(has(said(), "newest checkpoints (1)") && has(said(), "view.sqlite is not there"), said().c_str());
        good(good(Database::open(run.paths.tracker(), {})).backupTo(snapshot));
        QCOMPARE(said(), std::string("all inspected"));
        fs::remove(snapshot);
        fs::copy_file(run.paths.folder() / "older.sqlite", snapshot);
        QVERIFY2(has(said(), "view.sqlite is older than they are"), said().c_str());
        Changed::write(snapshot, "no database");
        QVERIFY2(has(said(), "view.sqlite cannot be read"), said().c_str());
    }

    /// Without --deep the newest checkpoints were counted alone, and of one it said "1 checkpoints".
    void damagedFrozenWeightsWereSaidToBeThoseOfOneCheckpoint()
    {
        Changed run(whole_);
        run.flip(run.frozen());
        const auto said = [&run] { return allTexts(good(auditRun(run.paths, AuditDepth::Files))); };
        QVERIFY2(has(said(), "the frozen weights of 2 checkpoints (the newest is r0-12), is not what was written"),
            said().c_str());
        run.editAny("r0-10", [](CheckpointManifest& manifest) { manifest.frozen->sha256 = sha256Hex("other"); });
        QVERIFY2(has(said(), "the frozen weights of checkpoint r0-12, is not what was written"), said().c_str());
    }

    /// Who went back behind such a manifest was asked for a yes to what the going back leaves anyway.
    void goingBackBehindAChangedManifestAskedForAYes()
    {
        Changed run(whole_);
        const auto file = good(readRunFile(run.paths));
        run.flip(run.paths.removedManifestsFolder() / "r0-8.json");
        const auto resumedFrom = [&](std::optional<CheckpointId> checkpoint) {
            auto reader = good(LedgerReader::open(run.paths.tracker()));
            return checkResume(
                run.paths, file, reader, { .goBackTo = checkpoint }, [&] { return audit(run.paths.tracker()); });
        };
        QVERIFY(!resumedFrom(std::nullopt).ok());
        QVERIFY(!resumedFrom(CheckpointId { 4 }).ok()); // r0-8 itself
        good(resumedFrom(CheckpointId { 3 }));
    }

    /// An older tracker was taken forward by it: the chunk that it did not name any more was trained again, into the
    /// same weights, and the audit found nothing.
    void aManifestThatSomebodyHadChangedProvedTheWeights()
    {
        Changed run(whole_);
        for (const char* ending : { "", "-wal", "-shm" })
            fs::remove(run.paths.tracker().string() + ending);
        fs::copy_file(run.paths.folder() / "older.sqlite", run.paths.tracker());
        fs::remove(run.paths.trackerSnapshot());
        const auto removed = run.paths.removedManifestsFolder() / "r0-6.json";
        std::string sha256;
        auto manifest = good(readManifestFile(removed, sha256));
        manifest.parts.pop_back();
        Changed::write(removed, toJsonText(manifest));
        const auto before = good(readFile(run.paths.tracker()));
        const auto refused = repairRun(run.paths, [](const std::string&) { });
        QVERIFY(!refused.ok());
        for (const char* part :
            { "checkpoint r0-12 was made from r0-6", "not the one that checkpoint r0-8 was made from" })
            QVERIFY2(has(refused.error().message, part), refused.error().message.c_str());
        QVERIFY(good(readFile(run.paths.tracker())) == before);
    }

    /// The advice was followed, and answered with the whole audit of what could not be made, in one line.
    void aTrackerThatCannotBeTakenForwardHadNoWord()
    {
        Changed run(whole_);
        for (const char* ending : { "", "-wal", "-shm" })
            fs::remove(run.paths.tracker().string() + ending);
        fs::copy_file(run.paths.folder() / "older.sqlite", run.paths.tracker());
        fs::remove(run.paths.trackerSnapshot());
        fs::remove(run.paths.removedManifestsFolder() / "r0-6.json");
        const auto refused = repairRun(run.paths, [](const std::string&) { });
        QVERIFY(!refused.ok());
        const std::string said = refused.error().message;
        QVERIFY2(has(said, "made from r0-6, which nothing proves") && has(said, "Put what is missing"), said.c_str());
        QVERIFY2(said.size() < 1000, said.c_str());
    }

    /// It was set aside as damaged, and a tracker of this version took its place.
    void aRepairReplacedTheTrackerOfANewerFurrow()
    {
        Changed run(whole_);
        run.sql("PRAGMA user_version=99");
        const auto refused = repairRun(run.paths, [](const std::string&) { });
        QVERIFY(!refused.ok() && refused.error().code == ErrorCode::InvalidArgument);
        QVERIFY2(has(refused.error().message, "newer Furrow"), refused.error().message.c_str());
        QCOMPARE(good(Database::open(run.paths.tracker(), {})).integer("PRAGMA user_version"),
            std::optional<std::int64_t>(99));
    }

    /// The audit called a chunk left out that nobody had left out, and everything in order.
    void aChunkThatWasTriedAgainWasPoisonedByHand()
    {
        Changed run(whole_);
        const ChunkId leftOut = chunkIdOf({ 1, 1, 1 });
        const ChunkId again = chunkIdOf({ 3, 2, 1 });
        const auto proven = [&run] { return good(auditRun(run.paths, AuditDepth::Quick)); };
        good(openEpochsUpTo(run.paths.tracker(), 1));
        auto ledger = good(SupervisorLedger::open(run.paths.tracker()));
        good(ledger.exclude({ &leftOut, 1 }, {}));
        good(openEpochsUpTo(run.paths.tracker(), 3)); // which take it over, without an event of their own
        good(good(FeederLedger::open(run.paths.tracker())).setFailed(2, "its file is gone"));
        good(ledger.acceptPoisoned(std::vector { chunkIdOf({ 1, 2, 0 }) }));
        good(ledger.retryPoisoned({ &again, 1 }));
        const auto report = proven();
        QVERIFY2(report.isClean(), auditText(report).c_str());
        QCOMPARE(report.epochs.at(3).excluded, 1);
        QCOMPARE(report.epochs.at(1).accepted, 1);
        markByHand(run, again, ChunkState::Poisoned);
        QVERIFY(has(allTexts(proven()), "chunk 1 of block 2 (epoch 4) is marked as poisoned, and no event says so"));
    }

    /// It was told as lost training, and the run as in order.
    void aSavedClaimThatIsCalledLostCountsAsNoLoss()
    {
        Changed run(whole_);
        run.sql("UPDATE claim SET outcome=3 WHERE id=3");
        QCOMPARE(good(auditRun(run.paths, AuditDepth::Quick)).epochs.front().chunksLost, 0);
    }

    /// Its tracker names the workers of the original, which were shown as its own.
    void theWorkersOfTheOriginalLivedInItsCopy()
    {
        Changed run(whole_);
        const auto program = run.paths.folder().parent_path() / "furrow-worker";
        fs::copy_file("/bin/sh", program);
        for (const bool isOwn : { false, true }) {
            const auto folder = isOwn ? run.paths.folder() : run.paths.folder().parent_path();
            auto worker = good(
                ChildProcess::start(program, { .arguments = { "-c", "while :; do sleep 1; done", utf8Text(folder) } }));
            const ProcessIdentity process = worker.identity();
            QTRY_VERIFY(isOfAnotherFolder(run.paths, process) != isOwn);
            run.sql("UPDATE incarnation SET live=1, ended_wall=0, pid=" + std::to_string(process.pid)
                + ", start_time=" + std::to_string(process.startTime) + ", boot_id='" + process.place + "'");
            const auto status = good(readStatus(run.paths));
            QCOMPARE(isAnyAlive(status), isOwn);
            QCOMPARE(std::any_of(status.evidence.begin(), status.evidence.end(),
                         [](const auto& one) { return one.find("this one is a copy") != std::string::npos; }),
                !isOwn);
        }
    }

    /// Looked at with another clock the lanes of its workers were empty, and its newest checkpoint was ten years late.
    void theClockOfWhoLooksWasTakenForThatOfTheRun_data()
    {
        QTest::addColumn<int>("hours"); ///< of the clock of the run, before the one here
        QTest::addColumn<QString>("says");
        QTest::newRow("the same clock") << 0 << "";
        QTest::newRow("behind") << 1 << "The clock here is 1 h behind that of the run";
        QTest::newRow("ahead") << -24 << "The clock here is 1 d ahead of that of the run";
    }
    void theClockOfWhoLooksWasTakenForThatOfTheRun()
    {
        QFETCH(int, hours);
        QFETCH(QString, says);
        Changed run(whole_);
        const std::chrono::nanoseconds wall(systemClock().wallNs());
        const ManualClock clock(
            std::chrono::nanoseconds(systemClock().monotonicNs()), wall + std::chrono::hours(hours));
        auto ledger = good(SupervisorLedger::open(run.paths.tracker(), clock));
        const auto lock = FileLock::tryLock(run.paths.supervisorLock());
        QVERIFY(lock.ok());
        good(ledger.beginAttempt(thisProcess(), "{}"));
        const auto status = good(readStatus(run.paths));
        QVERIFY(status.supervised);
        QVERIFY(std::abs(nowOfRun(status) - clock.wallNs()) < 10'000'000'000);
        QString said;
        for (const auto& one : status.evidence)
            if (one.find("The clock here is") != std::string::npos)
                said += QString::fromStdString(one);
        QVERIFY2(says.isEmpty() ? said.isEmpty() : said.startsWith(says), qPrintable(said));
    }

    /// Nobody could read it where it lay, so whoever asked what is wrong was told nothing else.
    void aLinkedTrackerIsNamedByWhoeverReadsIt()
    {
        Changed run(whole_);
        QTemporaryDir elsewhere;
        const fs::path target = pathFromUtf8(elsewhere.path().toStdString()) / "tracker";
        for (const char* ending : { "-wal", "-shm" })
            fs::remove(run.paths.tracker().string() + ending);
        fs::rename(run.paths.tracker(), target);
        fs::create_symlink(target, run.paths.tracker());
        const auto status = readStatus(run.paths);
        const auto report = auditRun(run.paths, AuditDepth::Files);
        QVERIFY(!status.ok() && !report.ok());
        for (const auto& said : { status.error().message, report.error().message, good(trackerDamage(run.paths)) })
            QVERIFY2(said.find("tracker.sqlite is a link, and Furrow writes") != std::string::npos, said.c_str());
        QCOMPARE(good(entriesOf(target.parent_path())).size(), std::size_t(1));
    }

    void copyOfACheckpointIsNoFault()
    {
        Changed run(whole_);
        fs::copy(run.paths.checkpointFolder("r0-12"), run.paths.checkpointFolder("r0-14"), fs::copy_options::recursive);
        const auto report = good(auditRun(run.paths, AuditDepth::Files));
        QVERIFY2(report.isClean() && report.couldInspect(), auditText(report).c_str());
        QVERIFY2(allTexts(report).find("r0-14 in the folder of the checkpoints does not belong to this run")
                != std::string::npos,
            allTexts(report).c_str());
        QVERIFY(fs::exists(run.paths.checkpointFolder("r0-14")));
    }

    void checkpointsBehindALinkAreNamed()
    {
        Changed run(whole_);
        const auto elsewhere = run.paths.folder() / "elsewhere";
        fs::rename(run.paths.checkpointsFolder(), elsewhere);
        fs::create_directory_symlink(elsewhere, run.paths.checkpointsFolder());
        const auto report = good(auditRun(run.paths, AuditDepth::Files));
        QVERIFY2(report.isClean(), auditText(report).c_str());
        QVERIFY2(allTexts(report).find("checkpoints is a link") != std::string::npos, allTexts(report).c_str());
    }

    /// A run of a version that kept less is no fault; what could not be held against anything is said.
    void olderRunSaysWhatItDidNotKeep()
    {
        Changed run(whole_);
        auto text = good(readFile(run.paths.configFile()));
        const auto begin = text.find("\"held_out_sha256\"");
        text.erase(begin, text.find('\n', begin) - begin);
        Changed::write(run.paths.configFile(), text);
        auto manifest = good(readFile(run.head("manifest.json")));
        const auto size = manifest.size();
        manifest.replace(manifest.find("\"incarnation\""), 13, "\"past\"");
        manifest.replace(manifest.find("\"eval_loss\""), 11, "\"other\"");
        Changed::write(run.head("manifest.json"), manifest);
        run.sql(
            "UPDATE meta SET value=replace(value, 'held-out text hash', 'not kept') WHERE key='frozen'; UPDATE checkpoint SET size_bytes=size_bytes-"
            + std::to_string(size - manifest.size()) + ", manifest_sha256='" + sha256Hex(manifest) + "' WHERE id=6");
        const auto report = good(auditRun(run.paths, AuditDepth::Files));
        QVERIFY2(report.isClean() && report.couldInspect(), auditText(report).c_str());
        const auto said = auditText(report);
        QVERIFY2(said.find("made by a version that did not keep its hash") != std::string::npos
                && said.find("who wrote 1 checkpoint ") != std::string::npos,
            said.c_str());
    }

    /// A tracker of which only counters were wrong was made anew without its history.
    void repairCountsAnewAndKeepsTheHistory_data()
    {
        QTest::addColumn<QByteArray>("sql");
        const auto row = [](const char* name, const char* sql) { QTest::newRow(name) << QByteArray(sql); };
        row("totals", "UPDATE budget SET steps=1, tokens=2, claimed_tokens=3, reserved_steps=4, completed_blocks=5");
        row("no totals", "DELETE FROM budget");
        row("meters",
            "UPDATE epoch SET visited_blocks=9, completed_blocks=9, known_rows=9, known_samples=9, known_held_out=9, done_rows=9, done_samples=9, done_failed=9, n4=9");
        row("an epoch that is not closed", "UPDATE epoch SET closed_wall=NULL");
        row("counters of blocks",
            "UPDATE counts SET n0=5, n4=1, visited=0, wanted=1; UPDATE dataset SET known_blocks=9, prepared_blocks=8");
        row("claims of checkpoints, epochs and windows of chunks",
            "UPDATE checkpoint SET first_claim=1, last_claim=12; UPDATE chunk SET epoch=3, covered=1");
    }
    void repairCountsAnewAndKeepsTheHistory()
    {
        QFETCH(QByteArray, sql);
        Changed run(whole_);
        run.sql(sql.toStdString());
        QVERIFY(!good(auditRun(run.paths, AuditDepth::Files)).isClean());
        const auto repaired = good(repairRun(run.paths, [](const std::string&) { }));
        QVERIFY2(repaired.needed && repaired.basis.find("counted anew") != std::string::npos, repaired.basis.c_str());
        const auto report = good(auditRun(run.paths, AuditDepth::Files));
        QVERIFY2(report.isClean() && report.couldInspect(), auditText(report).c_str());
        QCOMPARE(good(good(LedgerReader::open(run.paths.tracker())).claimsSince(0, 100)).size(), std::size_t(12));
        QCOMPARE(repaired.committed, 12);
    }

    /// After the repair doctor said "whole", and the audit that the tracker did not know which weights were removed,
    /// and that it had been damaged.
    void olderTrackerThatWasTakenForwardKnowsWhatWasRemoved()
    {
        Changed run(whole_);
        for (const char* ending : { "", "-wal", "-shm" })
            fs::remove(utf8Text(run.paths.tracker()) + ending);
        fs::remove(run.paths.trackerSnapshot());
        fs::copy_file(run.paths.folder() / "older.sqlite", run.paths.tracker());
        QVERIFY(good(repairRun(run.paths, [](const std::string&) { })).older);
        const auto report = good(auditRun(run.paths, AuditDepth::Files));
        QVERIFY2(report.isClean() && report.couldInspect(), auditText(report).c_str());
        QVERIFY2(allTexts(report).find("the tracker was older than the checkpoints and taken forward: ")
                != std::string::npos,
            allTexts(report).c_str());
        QVERIFY2(allTexts(report).find("damaged") == std::string::npos, allTexts(report).c_str());
    }

    /// An older merge of a copy of the run lay among its checkpoints: the tracker was called older than the weights,
    /// and taking it forward from the manifests gave up most of what it knew, without a yes.
    void aMergeOfACopyMadeARepairGiveUpNewestWeights()
    {
        Changed run(whole_);
        const auto folder = run.paths.checkpointFolder("merge-5");
        fs::copy(run.paths.checkpointFolder("r0-10"), folder);
        std::string sha256;
        auto manifest = good(readManifestFile(folder / kManifestFile, sha256));
        manifest.kind = CheckpointKind::Merge;
        manifest.step = 5;
        manifest.parents = { "r0-4" };
        manifest.parts.clear();
        manifest.writtenWallNs = systemClock().wallNs(); // the newest merge counts
        const std::string state = WholeRun::stateText(manifest);
        Changed::write(folder / kStateFile, state);
        for (auto& file : manifest.files)
            if (file.name == kStateFile)
                file = { file.name, state.size(), sha256Hex(state) };
        Changed::write(folder / kManifestFile, toJsonText(manifest));
        const auto before = good(readFile(run.paths.tracker()));
        const auto refused = repairRun(run.paths, [](const std::string&) { });
        QVERIFY(!refused.ok());
        QVERIFY2(refused.error().message.find("r0-12") != std::string::npos
                && refused.error().message.find("furrowctl resume") != std::string::npos,
            refused.error().message.c_str());
        QVERIFY(good(readFile(run.paths.tracker())) == before && fs::exists(folder));
    }

    /// After a resume with an older tracker the newer one was put back: "older than the weights", and the repair that
    /// was advised was refused. Nobody said that its newest weights lay in unknown/, or how they come back.
    void aNewerTrackerThatWasPutBackHadNoWayThatWorked()
    {
        for (const bool byResume : { false, true }) {
            const Changed run(whole_);
            const auto& paths = run.paths;
            const auto unknown = paths.unknownCheckpointsFolder();
            const auto other = paths.checkpointFolder("r0-6-other");
            fs::copy(paths.checkpointFolder("r0-10"), other);
            auto manifest = good(readManifest(other));
            manifest.parents = { "r0-4" };
            manifest.writtenWallNs = systemClock().wallNs();
            Changed::write(other / kManifestFile, toJsonText(manifest));
            fs::create_directories(unknown);
            for (const char* name : { "r0-10", "r0-12" })
                fs::rename(paths.checkpointFolder(name), unknown / name);
            fs::rename(keptManifest(paths, "r0-8"), unknown / "r0-8.json");

            const auto file = good(readRunFile(paths));
            const std::string doctor = good(checkpointProblems(paths)).front();
            for (const std::string& part : { std::string("two lines of the run"), std::string("r0-12"),
                     utf8Text(unknown), std::string("r0-6-other"), std::string("--repair --accept-loss'"),
                     std::string("go on from r0-12. Chunks that the tracker has as trained and that would be trained "
                                 "again: 0.") })
                QVERIFY2(has(doctor, part), doctor.c_str());
            QVERIFY(has(refuseOlderTracker(paths, file.runId).error().message, "two lines of the run"));
            const auto audited = allTexts(good(auditRun(paths, AuditDepth::Files)));
            QVERIFY2(has(audited, "two lines of the run"), audited.c_str());
            const auto refused = repairRun(paths, [](const std::string&) { });
            QVERIFY(!refused.ok() && has(refused.error().message, "two lines of the run") && fs::exists(other));

            if (byResume) {
                auto ledger = good(SupervisorLedger::open(paths.tracker()));
                good(recoverRun(paths, file, ledger, { .acceptLoss = true }));
            } else
                QVERIFY(!good(repairRun(paths, [](const std::string&) { }, true)).needed);
            QVERIFY(fs::exists(run.head("weights.safetensors")) && fs::exists(keptManifest(paths, "r0-8")));
            QVERIFY(!fs::exists(other) && fs::exists(unknown / "r0-6-other" / "weights.safetensors"));
            QVERIFY(good(checkpointProblems(paths)).empty());
            for (const auto& row : good(good(LedgerReader::open(paths.tracker())).checkpoints()))
                QVERIFY(row.head == (row.record.folder == "r0-12") && !row.damaged);
            QVERIFY(good(auditRun(paths, AuditDepth::Files)).isClean());
        }
    }

    /// One name in the tracker led out of the run folder, and no snapshot had another: "neither the tracker nor its
    /// snapshot can be read", said the repair that doctor had advised, and asked for a yes.
    void aNameThatLedElsewhereWasCalledAnUnreadableTracker()
    {
        const auto tamper = [](const Changed& run, const char* script) {
            run.sql(script);
            fs::remove(run.paths.trackerSnapshot());
            QVERIFY(!good(LedgerReader::open(run.paths.tracker())).checkpoints().ok());
        };
        const auto repair = [](const Changed& run) { return repairRun(run.paths, [](const std::string&) { }); };
        const Changed run(whole_);
        tamper(run, "UPDATE checkpoint SET folder='../../elsewhere' WHERE folder='r0-12'");
        const auto repaired = repair(run);
        QVERIFY2(repaired.ok(), repaired.ok() ? "" : repaired.error().message.c_str());
        QVERIFY(good(checkpointProblems(run.paths)).empty() && fs::exists(run.head("weights.safetensors")));

        const Changed lost(whole_); // of these it is still asked, by what it is
        tamper(lost, "UPDATE checkpoint SET folder='../../elsewhere' WHERE folder='r0-10'");
        fs::remove_all(lost.paths.checkpointFolder("r0-12"));
        const auto refused = repair(lost);
        QVERIFY(!refused.ok());
        QVERIFY2(has(refused.error().message, "r0-12") && has(refused.error().message, "would give up newest weights"),
            refused.error().message.c_str());
    }

    /// A tracker of before the run went back to r0-8 was put back: the newest weights, which grow from that, went to
    /// unknown/ without a yes.
    void aRepairGaveUpTheWeightsOfARunThatHadGoneBack()
    {
        Changed run(whole_);
        const auto folder = run.paths.checkpointFolder("r0-14");
        fs::copy(run.paths.checkpointFolder("r0-10"), folder); // it trained the same windows again
        std::string sha256;
        auto manifest = good(readManifestFile(folder / kManifestFile, sha256));
        manifest.parents = { "r0-8" };
        manifest.writtenWallNs = systemClock().wallNs();
        Changed::write(folder / kManifestFile, toJsonText(manifest));
        const auto refused = repairRun(run.paths, [](const std::string&) { });
        QVERIFY(!refused.ok());
        QVERIFY2(refused.error().message.find("r0-14") != std::string::npos, refused.error().message.c_str());
        QVERIFY(fs::exists(folder));
        const auto repaired = good(repairRun(run.paths, [](const std::string&) { }, true));
        QVERIFY(repaired.older && !fs::exists(folder)
            && fs::exists(run.paths.unknownCheckpointsFolder() / folder.filename()));
    }

    /// After a repair an older tracker was never again compared with what lies beside it.
    void aTrackerThatWasMadeAnewIsHeldAgainstItsTelemetryToo()
    {
        Changed run(whole_);
        run.sql("UPDATE budget SET steps=1; UPDATE event SET wall=wall+1 WHERE seq=1; DELETE FROM part");
        std::ofstream(run.paths.telemetryFile(3, 0)) << "";
        const auto file = good(readRunFile(run.paths));
        QVERIFY(good(repairRun(run.paths, [](const std::string&) { }, true)).needed);
        QVERIFY(good(olderTrackerProblem(run.paths, file.runId)).empty()); // its history goes to attempt 4
        std::ofstream(run.paths.telemetryFile(7, 0)) << "";
        QVERIFY(good(olderTrackerProblem(run.paths, file.runId)).find("files of attempt 7") != std::string::npos);
        QVERIFY(good(repairRun(run.paths, [](const std::string&) { })).older);
        QVERIFY(good(olderTrackerProblem(run.paths, file.runId)).empty());
    }

    /// doctor called them whole, and a resume started workers that failed five times over.
    void weightsThatNobodyCanReadWereCalledWhole()
    {
        Changed run(whole_);
        run.editWeights("[[[[[[[[[[[[");
        const auto file = good(readRunFile(run.paths));
        const auto found = good(checkpointProblems(run.paths));
        QCOMPARE(found.size(), std::size_t(1));
        const auto repaired = good(repairRun(run.paths, [](const std::string&) { }));
        QVERIFY(!repaired.needed);
        QCOMPARE(repaired.problems.size(), std::size_t(1));
        auto ledger = good(SupervisorLedger::open(run.paths.tracker()));
        const auto refusal = good(verifyHeads(run.paths, file, ledger, false)).refusal; // of a resume
        for (const std::string& said :
            { std::string(found.front()), std::string(repaired.problems.front()), std::string(refusal) })
            for (const char* part : { "checkpoint r0-12 cannot be used: its weights.safetensors cannot be read",
                     "Put a whole copy back and resume", "--accept-loss" })
                QVERIFY2(said.find(part) != std::string::npos, said.c_str());
        run.editWeights(test::smallWeights("whole"));
        QVERIFY(good(checkpointProblems(run.paths)).empty());
        run.editWeights({});
        QCOMPARE(good(checkpointProblems(run.paths)).size(), std::size_t(1));
    }

    /// "workers is 1000000000, allowed is 0 to 256." was said to somebody who had named no workers, and the run could
    /// be neither resumed nor repaired.
    void settingsOfAnEarlierAttemptStoodInTheWay_data()
    {
        QTest::addColumn<QByteArray>("kept");
        QTest::addColumn<QString>("says");
        QTest::newRow("out of bounds")
            << QByteArray(R"({"workers":1000000000})")
            << "The settings that tracker.sqlite keeps of attempt 1 cannot be read: workers is "
               "1000000000, allowed is 0 to 256. 'furrowctl doctor --repair'";
        QTest::newRow("what must not change")
            << QByteArray(R"({"seed":5})") << "tracker.sqlite keeps this of attempt 1.";
        QTest::newRow("what does not fit the frozen ones") // was told of min_lr, which nobody had changed, and stayed
            << QByteArray(R"({"lr":1e-9})") << "tracker.sqlite keeps this of attempt 1.";
        QTest::newRow("no JSON") << QByteArray("[[[[")
                                 << "The settings that tracker.sqlite keeps of attempt 1 cannot be read: The "
                                    "configuration is not a JSON object of settings. 'furrowctl doctor --repair'";
        QTest::newRow("no setting") << QByteArray(R"({"wrkers":1})") << "There is no setting 'wrkers'";
    }
    void settingsOfAnEarlierAttemptStoodInTheWay()
    {
        QFETCH(QByteArray, kept);
        QFETCH(QString, says);
        Changed run(whole_);
        run.sql("UPDATE attempt SET overrides='" + kept.toStdString() + "'");
        const auto config = currentConfig(run.paths);
        const auto refused = config.ok() ? startRun(run.paths, config.value()) : config.error();
        QVERIFY2(!refused.ok() && QString::fromStdString(refused.error().message).contains(says),
            refused.error().message.c_str());
        const auto found = good(checkpointProblems(run.paths));
        QCOMPARE(found.size(), std::size_t(1));
        QVERIFY2(found.front().find("The tracker keeps settings of attempt 1 that a resume cannot use: ")
                    != std::string::npos
                && found.front().find("--repair' sets them aside") != std::string::npos,
            found.front().c_str());
        const auto repaired = good(repairRun(run.paths, [](const std::string&) { }));
        QVERIFY(!repaired.needed && repaired.settingsSetAside && repaired.problems.empty());
        QVERIFY(repaired.notes.front().find("were set aside, so that those of run.json hold") != std::string::npos);
        QVERIFY(good(currentConfig(run.paths)) == good(readRunFile(run.paths)).config);
        QVERIFY(good(checkpointProblems(run.paths)).empty());
        QVERIFY(good(audit(run.paths.tracker())).isClean());
        QVERIFY(!good(repairRun(run.paths, [](const std::string&) { })).settingsSetAside);
    }

    void doctorNamesAnotherHeldOutText()
    {
        Changed run(whole_);
        QVERIFY(good(checkpointProblems(run.paths)).empty());
        Changed::write(run.paths.evaluationFile(), "x");
        const auto problems = good(checkpointProblems(run.paths));
        QVERIFY(problems.size() == 1
            && problems.front().find("is not the held-out text this run began with") != std::string::npos);
    }

    /// "It was made with the run and there is no other": the data and run.json prove what it was.
    void aLostHeldOutTextStoppedARunForEver()
    {
        const WholeRun whole([](RunConfig& config) { config.heldOutPercent = 20; });
        const auto original = good(readFile(whole.paths.evaluationFile()));
        QVERIFY(good(readHeldOut(whole.paths.evaluationFile())).text.count() > 0);
        const auto repaired = [](const Changed& run) { return good(repairRun(run.paths, [](const std::string&) { })); };
        for (const bool isGone : { true, false }) {
            const Changed run(whole);
            const auto file = run.paths.evaluationFile();
            if (isGone)
                fs::remove(file);
            else
                run.flip(file);
            const auto damaged = isGone ? std::string() : good(readFile(file));
            const auto told = good(checkpointProblems(run.paths));
            QVERIFY2(told.size() == 1 && has(told.front(), "--repair'"), told.front().c_str());
            const auto report = repaired(run);
            QVERIFY(report.problems.empty() && report.notes.size() == 1);
            QVERIFY2(has(report.notes.front(), "was made again from the data"), report.notes.front().c_str());
            QVERIFY(good(readFile(file)) == original && good(checkpointProblems(run.paths)).empty());
            std::vector<std::string> aside;
            for (const auto& entry : good(entriesOf(run.paths.folder())))
                if (has(utf8Text(entry.filename()), "heldout.bin.damaged-"))
                    aside.push_back(good(readFile(entry)));
            QVERIFY(isGone ? aside.empty() : aside == std::vector { damaged });
        }
        const Changed run(whole);
        fs::remove(run.paths.evaluationFile());
        const auto saysWhy = [&] {
            const auto report = repaired(run);
            return std::ranges::any_of(report.problems, [](const Message& one) {
                return has(one, "cannot be made again: ") && has(one, "one of the same data and settings has it");
            }) && std::ranges::none_of(report.problems, [](const Message& one) {
                return has(one, "--repair' makes");
            }) && !fs::exists(run.paths.evaluationFile());
        };
        Changed::write(run.data, "another text\n");
        QVERIFY(saysWhy());
        fs::remove(run.data);
        QVERIFY(saysWhy());
    }

    void doctorSaidNothingOfAnotherOrder() // audit and resume did
    {
        Changed run(whole_);
        run.sql("UPDATE meta SET value='99' WHERE key='seed'");
        const auto problems = good(checkpointProblems(run.paths));
        QVERIFY(problems.size() == 1 && problems.front().find("tracker and run.json disagree") != std::string::npos);
        const auto repaired = good(repairRun(run.paths, [](const std::string&) { }));
        QVERIFY(!repaired.needed && repaired.problems == problems);
    }

    void aLetterInRunJsonMadeARepairGiveUpTheRun() // "it belongs to run ...", and doctor itself advised it
    {
        Changed run(whole_);
        auto text = good(readFile(run.paths.configFile()));
        const auto id = good(readRunFile(run.paths)).runId;
        const std::string other = std::string(id.front() == '0' ? "1" : "0") + id.substr(1);
        text.replace(text.find(id), id.size(), other);
        Changed::write(run.paths.configFile(), text);
        const auto before = good(entriesOf(run.paths.checkpointsFolder()));
        const auto repaired = repairRun(run.paths, [](const std::string&) { });
        QVERIFY(!repaired.ok());
        QVERIFY2(repaired.error().message.find("none of its checkpoints is of that run") != std::string::npos,
            repaired.error().message.c_str());
        QVERIFY(good(entriesOf(run.paths.checkpointsFolder())) == before);
        QVERIFY(!auditRun(run.paths, AuditDepth::Files).ok());
    }

    void aRepairGaveUpNewestWeightsWithoutAYes() // that a resume asks for: two faults together walked round it
    {
        Changed run(whole_);
        Changed::write(run.head("manifest.json"), "");
        run.sql("UPDATE chunk SET state=1 WHERE id=(SELECT min(id) FROM chunk)");
        const auto before = good(readFile(run.paths.tracker()));
        const auto refused = repairRun(run.paths, [](const std::string&) { });
        QVERIFY(!refused.ok());
        QVERIFY2(refused.error().message.find("r0-12") != std::string::npos
                && refused.error().message.find("--accept-loss") != std::string::npos,
            refused.error().message.c_str());
        QVERIFY(good(readFile(run.paths.tracker())) == before);
        const auto repaired = good(repairRun(run.paths, [](const std::string&) { }, true));
        QVERIFY(repaired.needed && repaired.rebuilt.heads == std::vector<std::string> { "r0-10" });
        QCOMPARE(repaired.committed, 10);
    }

    void aTrackerThatSomebodyHadLockedWasMadeAnew() // a backup tool, or a database browser; nothing was damaged
    {
        Changed run(whole_);
        const auto before = good(readFile(run.paths.tracker()));
        auto holder = good(Database::open(run.paths.tracker(), {}));
        holder.script("PRAGMA locking_mode=EXCLUSIVE; BEGIN IMMEDIATE; COMMIT");
        good(holder.takeStatus());
        QCOMPARE(repairRun(run.paths, [](const std::string&) { }, true).error().code, ErrorCode::Busy);
        QCOMPARE(trackerDamage(run.paths).error().code, ErrorCode::Busy); // so that doctor advises no repair
        QVERIFY(good(readFile(run.paths.tracker())) == before);
        for (const auto& entry : good(entriesOf(run.paths.folder())))
            QVERIFY2(utf8Text(entry).find(".damaged-") == std::string::npos, utf8Text(entry).c_str());
    }

    /// The snapshot stood in for a tracker that could not be read: a worker, or a resume, took the settings of an
    /// earlier attempt, and a resume asked one file after the other for half a minute.
    void settingsOfAnEarlierAttemptWereTakenWhileTheTrackerWasLocked()
    {
        Changed run(whole_);
        good(good(Database::open(run.paths.tracker(), {})).backupTo(run.paths.trackerSnapshot()));
        run.sql(R"(UPDATE attempt SET overrides='{"epochs":7}')");
        const auto wanted = good(currentConfig(run.paths));
        QCOMPARE(wanted.epochs, std::int64_t(7));
        auto holder = good(Database::open(run.paths.tracker(), {}));
        holder.script("PRAGMA locking_mode=EXCLUSIVE; BEGIN IMMEDIATE; COMMIT");
        good(holder.takeStatus());
        QVERIFY(openLedger(run.paths).ok()); // who only looks is shown the snapshot, and told so
        QCOMPARE(currentConfig(run.paths).error().code, ErrorCode::Busy);
        QCOMPARE(startRun(run.paths, wanted).error().code, ErrorCode::Busy);
    }

    /// A disk that turned read-only under a living run: nobody could write down why, and status said "running".
    void aSupervisorThatCouldWriteNothingHadNoWord()
    {
        Changed run(whole_);
        RunStatus status;
        status.supervised = true;
        status.supervisorPid = 1;
        const auto hinders = [&](std::int64_t silentSeconds) {
            return whatHinders(status, {}, {}, { run.paths, {}, silentSeconds * 1'000'000'000 });
        };
        QVERIFY(hinders(2).empty());
        const auto found = hinders(30);
        QCOMPARE(found.size(), std::size_t(1));
        QVERIFY2(found.front().sentence.find("has written nothing to the tracker for 30 s") != std::string::npos,
            found.front().sentence.text().c_str());
        status.supervised = false;
        QVERIFY(hinders(30).empty());
    }

    /// A backup of yesterday: no checkpoint had come of the attempt that it does not know. Doctor and audit called it
    /// whole, and epsilon was stated without what had been trained and lost.
    void anOlderTrackerWithoutNewerCheckpointsWasTakenForTheNewest()
    {
        Changed run(whole_);
        const auto file = good(readRunFile(run.paths));
        QVERIFY(good(olderTrackerProblem(run.paths, file.runId)).empty());
        good(good(Database::open(run.paths.tracker(), {}))
                .backupTo(run.paths.trackerSnapshot(), Database::Journal::Wal));
        QVERIFY(good(olderTrackerProblem(run.paths, file.runId)).empty());
        {
            auto snapshot = good(Database::open(run.paths.trackerSnapshot(), {}));
            snapshot.script("INSERT INTO attempt (pid, start_time, boot_id, started_wall) VALUES (1, 1, 'gone', 1);"
                            " INSERT INTO event (wall, chunk, from_state, to_state, incarnation, cause)"
                            " VALUES (1, 0, 0, 0, 0, 'attempt 2')");
            good(snapshot.takeStatus());
        }
        const std::string older = "it ends with attempt 1, the snapshot with attempt 2";
        QVERIFY(good(olderTrackerProblem(run.paths, file.runId)).find(older) != std::string::npos);
        QVERIFY(good(checkpointProblems(run.paths)).front().find(older) != std::string::npos);
        const auto report = good(auditRun(run.paths, AuditDepth::Files));
        QVERIFY(!report.isClean() && allTexts(report).find(older) != std::string::npos);
        const auto refused = startRun(run.paths, good(currentConfig(run.paths)));
        QVERIFY2(refused.error().message.find(older) != std::string::npos, refused.error().message.c_str());
        QVERIFY(good(readStatus(run.paths)).evidence.back().find(older) != std::string::npos);

        QVERIFY(good(repairRun(run.paths, [](const std::string&) { })).older);
        QVERIFY(good(olderTrackerProblem(run.paths, file.runId)).empty());
        QVERIFY(good(auditRun(run.paths, AuditDepth::Files)).isClean());
    }

    /// A backup of tracker, snapshot and checkpoints was put back over a run that had gone on: nobody said so, and the
    /// next attempt wrote its telemetry behind that of the lost one, whose number it got.
    void aBackupThatWasPutBackWasTakenForTheNewest()
    {
        Changed run(whole_);
        const auto file = good(readRunFile(run.paths));
        std::ofstream(run.paths.telemetryFile(2, 0)) << "";
        const std::string older = "it ends with attempt 1, and there are files of attempt 2";
        QVERIFY(good(olderTrackerProblem(run.paths, file.runId)).find(older) != std::string::npos);
        QVERIFY(good(readStatus(run.paths)).evidence.back().find(older) != std::string::npos);
        QVERIFY(!good(auditRun(run.paths, AuditDepth::Files)).isClean());
        QVERIFY(!startRun(run.paths, good(currentConfig(run.paths))).ok());
        auto ledger = good(SupervisorLedger::open(run.paths.tracker()));
        good(recoverRun(run.paths, file, ledger, { .acceptLoss = true }, realFileSystem()));
        const auto next = good(ledger.beginAttempt(thisProcess(), "{}", good(newestAttemptOnDisk(run.paths))));
        QCOMPARE(next.value, 3);
        good(ledger.endAttempt(next, StopReason::User, {}));
        QVERIFY(good(olderTrackerProblem(run.paths, file.runId)).empty());
        const auto report = good(auditRun(run.paths, AuditDepth::Files));
        QVERIFY2(report.isClean(), report.findings.empty() ? "" : report.findings.front().text.c_str());
    }

    /// A person left chunks out by a tracker that did not know that they are in the weights, and no repair worked from
    /// then on.
    void chunksWereLeftOutByATrackerThatIsOlderThanTheWeights()
    {
        Changed run(whole_);
        for (const char* ending : { "", "-wal", "-shm" })
            fs::remove(utf8Text(run.paths.tracker()) + ending);
        fs::remove(run.paths.trackerSnapshot());
        fs::copy_file(run.paths.folder() / "older.sqlite", run.paths.tracker());
        std::vector<ChunkId> free;
        for (const ChunkCell& cell : good(good(LedgerReader::open(run.paths.tracker())).cells(0)))
            if (cell.state == ChunkState::Free)
                free.push_back(cell.id);
        QVERIFY(!free.empty());
        const auto cause = sentence("left out by hand");
        for (const Status& decided : { Status(excludeChunks(run.paths, free, cause).error()),
                 retryChunks(run.paths, free), acceptChunks(run.paths, free), markFinished(run.paths) })
            QVERIFY2(has(decided.error().message, "is older than the weights"), decided.error().message.c_str());
        QVERIFY(good(keptLeftOut(run.paths, good(readRunFile(run.paths)).runId)).decided.empty());

        good(good(SupervisorLedger::open(run.paths.tracker())).exclude(free, cause)); // as earlier versions did
        QVERIFY(good(repairRun(run.paths, [](const std::string&) { })).older);
        auto reader = good(LedgerReader::open(run.paths.tracker()));
        for (const ChunkId chunk : free)
            QVERIFY(good(reader.cell(chunk)).state == ChunkState::Committed);
        const auto report = good(auditRun(run.paths, AuditDepth::Files));
        QVERIFY2(report.isClean() && report.couldInspect(), auditText(report).c_str());
    }

    /// Audit and doctor called a tracker whole that neither status nor resume could read: a dead end.
    void aRowThatNoViewCanReadWasCalledWhole()
    {
        Changed run(whole_);
        {
            auto tracker = good(Database::open(run.paths.tracker(), {}));
            tracker.script("UPDATE incarnation SET chunk=1");
            good(tracker.takeStatus());
        }
        QVERIFY(!readStatus(run.paths).ok());
        QVERIFY(!good(auditRun(run.paths, AuditDepth::Files)).isClean());
        QVERIFY(good(repairRun(run.paths, [](const std::string&) { }, true)).needed);
        QVERIFY(good(auditRun(run.paths, AuditDepth::Files)).isClean());
        QVERIFY(readStatus(run.paths).ok());
    }

    /// Telemetry that tells of newer attempts, and cannot be listed, was taken for none.
    void telemetryThatCannotBeListedWasTakenForNone()
    {
        Changed run(whole_);
        fs::remove_all(run.paths.telemetryFolder());
        fs::create_symlink(run.paths.telemetryFolder(), run.paths.telemetryFolder()); // to itself
        QVERIFY(!newestAttemptOnDisk(run.paths).ok());
        QVERIFY(!good(auditRun(run.paths, AuditDepth::Files)).couldInspect());
    }

    void chunksLeftOutByHandWereTrainedAfterAnOlderTrackerWasPutBack_data()
    {
        QTest::addColumn<bool>("knowsTheEpoch");
        QTest::addColumn<bool>("isRepaired");
        QTest::addRow("repaired") << true << true;
        QTest::addRow("repaired, left out in an epoch that it does not know") << false << true;
        QTest::addRow("gone on with") << true << false;
        QTest::addRow("gone on with, left out in an epoch that it does not know") << false << false;
    }
    /// Only the tracker knew what a person had left out: an older one forgot it without a word.
    void chunksLeftOutByHandWereTrainedAfterAnOlderTrackerWasPutBack()
    {
        QFETCH(bool, knowsTheEpoch);
        QFETCH(bool, isRepaired);
        Changed run(whole_);
        const auto file = good(readRunFile(run.paths));
        good(good(SupervisorLedger::open(run.paths.tracker())).setStoppingRules({ .epochs = 2 }));
        const auto before = run.paths.folder() / "before.sqlite";
        const auto keep = [&] { good(good(Database::open(run.paths.tracker(), {})).backupTo(before)); };
        if (!knowsTheEpoch)
            keep();
        good(openEpochsUpTo(run.paths.tracker(), 1));
        if (knowsTheEpoch)
            keep();
        const std::vector<ChunkId> chosen { chunkIdOf({ 1, 0, 0 }), chunkIdOf({ 1, 1, 1 }) };
        good(excludeChunks(run.paths, chosen, sentence("left out by hand")));
        // As of an earlier version, with the chunk of each epoch that was open: the repair failed for ever.
        good(keepLeftOut(run.paths, file.runId, { { chunkIdOf({ 0, 0, 0 }), chosen.front() }, "twice" }));
        for (const char* ending : { "", "-wal", "-shm" })
            fs::remove(utf8Text(run.paths.tracker()) + ending);
        fs::remove(run.paths.trackerSnapshot());
        fs::rename(before, run.paths.tracker());
        good(Database::setWalMode(run.paths.tracker()));
        const std::string told = "a person left chunk 0 of block 0 (epoch ";
        QVERIFY(good(olderTrackerProblem(run.paths, file.runId)).find(told) != std::string::npos);
        QVERIFY(!good(auditRun(run.paths, AuditDepth::Files)).isClean());
        std::vector<Message> notes;
        if (isRepaired)
            notes = good(repairRun(run.paths, [](const std::string&) { })).notes;
        else {
            auto ledger = good(SupervisorLedger::open(run.paths.tracker()));
            notes = good(recoverRun(run.paths, file, ledger, { .acceptLoss = true }, realFileSystem()));
        }
        QVERIFY(std::ranges::any_of(notes, [](const Message& note) {
            return note.starts_with("2 chunks that a person had left out would be trained");
        }));
        auto reader = good(LedgerReader::open(run.paths.tracker()));
        QCOMPARE(good(reader.epochs()).size(), std::size_t(2));
        for (const ChunkId chunk : chosen)
            QVERIFY(good(reader.cell(chunk)).state == ChunkState::Excluded);
        QVERIFY(good(olderTrackerProblem(run.paths, file.runId)).empty());
    }

    /// The console left its umask as it was, and what it made in a run of a group only its own user could change.
    void whatTheConsoleMadeInARunOfAGroupWasForItsUserAlone()
    {
        Changed run(whole_);
        good(good(SupervisorLedger::open(run.paths.tracker())).setStoppingRules({ .epochs = 2 }));
        good(openEpochsUpTo(run.paths.tracker(), 1));
        fs::permissions(run.paths.folder(), fs::perms(0775));
        const mode_t before = ::umask(022);
        const auto restore = qScopeGuard([before] { ::umask(before); });
        good(excludeChunks(run.paths, std::vector { chunkIdOf({ 1, 0, 0 }) }, sentence("left out by hand")));
        const auto mayGroupWriteTo = [](const fs::path& path) {
            return (fs::status(path).permissions() & fs::perms::group_write) != fs::perms::none;
        };
        QVERIFY(mayGroupWriteTo(run.paths.leftOutFolder()));
        const auto kept = good(entriesOf(run.paths.leftOutFolder()));
        QCOMPARE(kept.size(), std::size_t(1));
        QVERIFY(mayGroupWriteTo(kept.front()));
        QCOMPARE(::umask(022), mode_t(022)); // it is one for all threads, and for what is made elsewhere
    }

    /// A record of what was left out that was damaged said nothing, and nobody said that.
    void aRecordOfWhatWasLeftOutThatIsDamagedWasPassedOver()
    {
        Changed run(whole_);
        const auto file = good(readRunFile(run.paths));
        const auto kept
            = good(keepLeftOut(run.paths, file.runId, { { chunkIdOf({ 0, 0, 0 }) }, sentence("left out by hand") }));
        QVERIFY(good(unclearLeftOut(run.paths, file.runId)).empty());
        fs::resize_file(kept, fs::file_size(kept) / 2);
        const std::string name = utf8Text(kept.filename());
        const auto names = [&name](const Message& said) { return said.find(name) != std::string::npos; };
        QVERIFY(std::ranges::any_of(good(checkpointProblems(run.paths)), names));
        const auto report = good(auditRun(run.paths, AuditDepth::Files));
        QVERIFY(std::ranges::any_of(report.findings, [&](const AuditFinding& finding) { return names(finding.text); }));
        QVERIFY(!report.couldInspect()); // it said "as recorded" all the same, where a resume refused
        auto reader = good(LedgerReader::open(run.paths.tracker()));
        const auto refused = checkResume(run.paths, file, reader, {}, [&] { return audit(run.paths.tracker()); });
        QVERIFY(!refused.ok() && names(refused.error().message)); // it would train those chunks
        auto ledger = good(SupervisorLedger::open(run.paths.tracker()));
        QVERIFY(std::ranges::any_of(
            good(recoverRun(run.paths, file, ledger, { .acceptLoss = true }, realFileSystem())), names));
    }

    /// Manifests say nothing of weights that were given up: a repair without any ledger chose them again.
    void aRepairChoseWeightsWithChunksThatWereLeftOut()
    {
        Changed run(whole_);
        const auto file = good(readRunFile(run.paths));
        good(keepLeftOut(run.paths, file.runId, { { chunkIdOf({ 0, 0, 0 }) }, sentence("left out by hand") }));
        for (const char* ending : { "", "-wal", "-shm" })
            fs::remove(utf8Text(run.paths.tracker()) + ending);
        fs::remove(run.paths.trackerSnapshot());
        const auto notes = good(repairRun(run.paths, [](const std::string&) { }, true)).notes;
        QVERIFY(!good(auditRun(run.paths, AuditDepth::Files)).isClean());
        QVERIFY(std::ranges::any_of(notes, [](const Message& note) {
            return note.starts_with("1 chunk that a person left out is in these weights");
        }));
    }

    void aCopyOfATrackerWithoutAWalWasADeadEnd() // whole for audit, doctor and dry run, and refused by the resume
    {
        Changed run(whole_);
        const auto copy = run.paths.folder() / "copy.sqlite";
        good(good(Database::open(run.paths.tracker(), {})).backupTo(copy));
        for (const char* ending : { "", "-wal", "-shm" })
            fs::remove(utf8Text(run.paths.tracker()) + ending);
        fs::rename(copy, run.paths.tracker());
        const auto file = good(readRunFile(run.paths));
        const auto resumed = [&] {
            auto reader = good(LedgerReader::open(run.paths.tracker()));
            return checkResume(run.paths, file, reader, {}, [&] { return audit(run.paths.tracker()); });
        };
        QVERIFY(good(trackerDamage(run.paths)).empty());
        const auto problems = good(checkpointProblems(run.paths));
        QVERIFY(problems.size() == 1 && problems.front().find("is not in WAL mode") != std::string::npos);
        QVERIFY(resumed().error().message.find("--repair` puts it into WAL mode") != std::string::npos);
        const auto repaired = good(repairRun(run.paths, [](const std::string&) { }));
        QVERIFY(!repaired.needed && repaired.madeLive && repaired.problems.empty());
        good(resumed());
        QVERIFY(!good(repairRun(run.paths, [](const std::string&) { })).madeLive);
    }

    void aRepairWithoutTrackerAndSnapshotAskedForNoYes() // nobody could say what there had been
    {
        Changed run(whole_);
        for (const char* ending : { "", "-wal", "-shm" })
            fs::remove(utf8Text(run.paths.tracker()) + ending);
        fs::remove(run.paths.trackerSnapshot());
        const auto refused = repairRun(run.paths, [](const std::string&) { });
        QVERIFY(!refused.ok());
        QVERIFY2(refused.error().message.find("12 of 12 known chunks") != std::string::npos
                && refused.error().message.find("--accept-loss") != std::string::npos,
            refused.error().message.c_str());
        QVERIFY(!fs::exists(run.paths.tracker()));
        QCOMPARE(good(repairRun(run.paths, [](const std::string&) { }, true)).committed, 12);
    }

    void aKilledRepairLeftItsWorkshopAndToreTheOldTrackerApart()
    {
        Changed run(whole_);
        const auto dead = run.paths.folder() / "furrow-0123456789abcdef";
        const auto kept = run.paths.folder() / "furrow-fedcba9876543210";
        for (const auto& folder : { dead, kept }) {
            fs::create_directory(folder);
            fs::copy_file(run.paths.tracker(), folder / "tracker.sqlite");
        }
        Changed::write(kept / "thesis.txt", "mine");
        Changed::write(utf8Text(run.paths.tracker()) + "-wal", "of the old one");
        const auto aside = fs::path(utf8Text(run.paths.tracker()) + ".damaged-01234567");
        fs::rename(run.paths.tracker(), aside); // and then it was killed
        const auto repaired = good(repairRun(run.paths, [](const std::string&) { }));
        QVERIFY(repaired.needed && repaired.oldCopy == aside);
        QCOMPARE(good(readFile(utf8Text(aside) + "-wal")), std::string("of the old one"));
        QVERIFY(!fs::exists(dead) && fs::exists(kept / "thesis.txt"));
    }

    /// "no unit has taken part in a step yet" of trained weights, and a limit of epsilon that was overrun unsaid: only
    /// the audit knew that the history was lost.
    void aNumberWasStatedOfAHistoryThatWasLost_data()
    {
        QTest::addColumn<bool>("withSnapshot");
        QTest::newRow("both are lost") << false;
        QTest::newRow("the snapshot is left") << true;
    }
    void aNumberWasStatedOfAHistoryThatWasLost()
    {
        QFETCH(bool, withSnapshot);
        const WholeRun secret([](RunConfig& config) {
            config.clipPerSample = 1;
            config.noiseMultiplier = 1;
            config.targetDelta = 1e-6;
        });
        Changed run(secret);
        run.sql("INSERT INTO meta VALUES ('participations', '1')"); // as training keeps it
        QVERIFY(good(readStatus(run.paths)).privacy.value().epsilon > 1);
        auto wanted = good(currentConfig(run.paths));
        wanted.targetEpsilon = 50;
        const auto file = good(readRunFile(run.paths));
        const auto refusal = [&] {
            auto reader = good(LedgerReader::open(run.paths.tracker()));
            const auto checked = checkNextSettings(run.paths, file, reader, wanted);
            return checked.ok() ? std::string() : checked.error().message.text();
        };
        QCOMPARE(refusal(), std::string());
        fs::remove(run.paths.trackerSnapshot());
        if (withSnapshot)
            good(good(Database::open(run.paths.tracker(), {})).backupTo(run.paths.trackerSnapshot()));
        for (const char* ending : { "", "-wal", "-shm" })
            fs::remove(utf8Text(run.paths.tracker()) + ending);
        if (withSnapshot) // shown until the repair
            QVERIFY(
                has(inWords(*good(readStatus(run.paths)).privacy), "No epsilon is stated: the tracker cannot be read"));

        std::string said;
        const auto repaired
            = good(repairRun(run.paths, [&said](const std::string& line) { said += line + "\n"; }, !withSnapshot));
        QVERIFY2(has(said, "no epsilon can be stated of the run any more"), said.c_str());
        QVERIFY(std::ranges::find(repaired.notes, sentence(kNoEpsilonOfMadeAnew)) != repaired.notes.end());
        const auto status = good(readStatus(run.paths));
        const auto audited = good(auditRun(run.paths, AuditDepth::Files)).privacy.value();
        QVERIFY(!audited.epsilon);
        QCOMPARE(inWords(*status.privacy).text(), audited.lines.front().text());
        const auto json = toJson(status)["privacy"];
        QVERIFY(json["epsilon_at_most"].is_null() && json["participations_at_most"].is_null());
        QCOMPARE(json["not_stated"].get<std::string>(), audited.lines.front().text());
        QVERIFY2(has(refusal(), "No epsilon is stated: the tracker was made anew") && has(refusal(), "Write 0 for"),
            refusal().c_str());
        wanted.targetEpsilon = 0;
        QCOMPARE(refusal(), std::string());
    }

    /// An older copy put back and gone on with: an epsilon was stated without what had been trained since, and the
    /// noise of those steps came back.
    void anOlderTrackerGoneOnWithStatedAnEpsilon()
    {
        const WholeRun secret([](RunConfig& config) {
            config.clipPerSample = 1;
            config.noiseMultiplier = 1;
            config.targetDelta = 1e-6;
        });
        Changed run(secret);
        for (const char* ending : { "", "-wal", "-shm" })
            fs::remove(utf8Text(run.paths.tracker()) + ending);
        fs::remove(run.paths.trackerSnapshot());
        fs::copy_file(run.paths.folder() / "older.sqlite", run.paths.tracker());
        const auto problems = good(checkpointProblems(run.paths));
        QVERIFY2(has(problems.front(), "takes the tracker forward"), problems.front().c_str()); // the plain next step
        QVERIFY(has(problems.at(1), "no epsilon can be stated"));
        const auto spent = inWords(*good(readStatus(run.paths)).privacy); // the number of the older tracker stood there
        QVERIFY2(has(spent, "No epsilon is stated") && has(spent, "older than the weights"), spent.c_str());
        const auto salt = good(noiseSalt(run.paths.tracker()));
        auto wanted = good(currentConfig(run.paths));
        wanted.targetEpsilon = 50;
        const auto refused = startRun(run.paths, wanted, {}, { .acceptLoss = true });
        QVERIFY(!refused.ok() && has(refused.error().message, "No epsilon is stated"));
        {
            auto ledger = good(SupervisorLedger::open(run.paths.tracker()));
            good(recoverRun(run.paths, good(readRunFile(run.paths)), ledger, { .acceptLoss = true }, realFileSystem()));
        }
        QVERIFY(good(noiseSalt(run.paths.tracker())) > salt + 1'000'000);
        QCOMPARE(inWords(*good(readStatus(run.paths)).privacy).text(), sentence(kNoEpsilonOfMadeAnew).text());
        const auto report = good(auditRun(run.paths, AuditDepth::Quick));
        QVERIFY(!report.privacy.value().epsilon);
    }

    void repairsOfARunWithoutNoiseCostNothing()
    {
        Changed run(whole_);
        QVERIFY(costsOfRepair(good(readRunFile(run.paths))).empty());
        run.sql("UPDATE budget SET steps=1");
        QVERIFY(good(repairRun(run.paths, [](const std::string&) { })).notes.empty());
        QVERIFY(!good(readStatus(run.paths)).privacy);
    }

    void aTrackerOfAnotherRunIsMadeAnewFromTheCheckpoints() // they are of the run of run.json
    {
        Changed run(whole_);
        run.sql("UPDATE meta SET value='0123456789abcdef' WHERE key='run_id'");
        const auto repaired = good(repairRun(run.paths, [](const std::string&) { }));
        QVERIFY(repaired.needed && repaired.committed == 12);
    }

    /// The figures of another run were shown as those of this one, and a repair asked to give up weights of that other
    /// run which this one had never had.
    void theLedgerOfAnotherRunWasTakenForThisOnes_data()
    {
        QTest::addColumn<bool>("tracker");
        QTest::addColumn<bool>("snapshot"); // of another run; else this run's own
        QTest::addColumn<QString>("shown"); // by status: steps, or the file that is foreign
        QTest::newRow("a snapshot alone") << false << true << "view.sqlite belongs to run 0123456789abcdef";
        QTest::newRow("a tracker beside a snapshot") << true << false << "12 steps";
        QTest::newRow("both") << true << true << "tracker.sqlite belongs to run 0123456789abcdef";
    }
    void theLedgerOfAnotherRunWasTakenForThisOnes()
    {
        QFETCH(bool, tracker);
        QFETCH(bool, snapshot);
        QFETCH(QString, shown);
        Changed run(whole_);
        const auto mine = run.paths.folder() / "mine.sqlite";
        good(good(Database::open(run.paths.tracker(), {})).backupTo(mine));
        run.sql("UPDATE meta SET value='0123456789abcdef' WHERE key='run_id'; UPDATE budget SET steps=880;"
                "UPDATE checkpoint SET folder='r0-880' WHERE folder='r0-12'");
        good(good(SupervisorLedger::open(run.paths.tracker())).emptyWal());
        const auto foreign = good(readFile(run.paths.tracker()));
        fs::remove(run.paths.trackerSnapshot());
        fs::copy_file(snapshot ? run.paths.tracker() : mine, run.paths.trackerSnapshot());
        if (!tracker)
            for (const char* ending : { "", "-wal", "-shm" })
                fs::remove(utf8Text(run.paths.tracker()) + ending);

        const auto status = readStatus(run.paths);
        const auto said = status.ok() ? std::to_string(status.value().steps) + " steps" : status.error().message.text();
        QVERIFY2(has(said, shown.toStdString()), said.c_str());
        if (status.ok())
            QVERIFY(has(status.value().evidence.front(), "tracker.sqlite belongs to run 0123456789abcdef"));
        const auto config = currentConfig(run.paths);
        const auto refused = config.ok() ? Status(startRun(run.paths, config.value()).error()) : config.error();
        QVERIFY2(!refused.ok() && has(refused.error().message, "belongs to run 0123456789abcdef"),
            refused.error().message.c_str());
        QVERIFY(!auditRun(run.paths, AuditDepth::Quick).ok());

        const auto repaired = good(repairRun(run.paths, [](const std::string&) { }));
        QVERIFY(repaired.needed && repaired.foreign == tracker && repaired.problems.empty());
        QCOMPARE(repaired.committed, 12);
        QVERIFY(good(auditRun(run.paths, AuditDepth::Files)).isClean());
        QVERIFY(good(checkpointProblems(run.paths)).empty());
        int kept = 0; // nothing is deleted
        for (const auto& entry : good(entriesOf(run.paths.folder())))
            kept += has(utf8Text(entry), ".sqlite.foreign-") && good(readFile(entry)) == foreign;
        QCOMPARE(kept, int(tracker) + int(snapshot));
    }

    void aSnapshotOfAnotherRunWasWrittenOver() // by the next one of this run
    {
        Changed run(whole_);
        const auto file = good(readRunFile(run.paths));
        fs::remove(run.paths.trackerSnapshot());
        good(good(Database::open(run.paths.tracker(), {}))
                .backupTo(run.paths.trackerSnapshot(), Database::Journal::Wal));
        QCOMPARE(good(setForeignSnapshotAside(run.paths, file.runId)), Message());
        {
            auto db = good(Database::open(run.paths.trackerSnapshot(), {}));
            db.run("UPDATE meta SET value='0123456789abcdef' WHERE key='run_id'");
            good(db.takeStatus());
        }
        const auto problems = good(checkpointProblems(run.paths));
        QVERIFY(problems.size() == 1 && has(problems.front(), "view.sqlite belongs to run 0123456789abcdef"));
        auto ledger = good(SupervisorLedger::open(run.paths.tracker()));
        const auto notes = good(recoverRun(run.paths, file, ledger, {}, realFileSystem())); // as a resume begins
        QVERIFY(std::ranges::any_of(notes, [](const Message& note) { return has(note, "view.sqlite.foreign-"); }));
        QVERIFY(!fs::exists(run.paths.trackerSnapshot()));
    }

    void aWorkerThatTrainedNothingGaveTheRunItsLoss() // its weights do not survive, and it was the last to tell
    {
        Changed run(whole_);
        const auto told = [&run](int worker, std::int64_t step, double loss) {
            good(publishEvaluation(run.paths, { worker, false, step, loss, systemClock().wallNs() }, realFileSystem()));
            return good(readStatus(run.paths)).evaluation.value().loss;
        };
        QCOMPARE(told(1, 0, 9.9), 2.0 + 1.0 / 12);
        QCOMPARE(told(0, 12, 1.9), 1.9); // of the newest weights, evaluated once more
        QCOMPARE(told(0, 13, 1.8), 2.0 + 1.0 / 12); // of weights that died with their worker
    }

    void aLinkInTheCacheWasMetByTheResumeAlone() // which failed, and a finished run with it
    {
        Changed run(whole_);
        fs::create_directory(run.paths.folder() / "elsewhere");
        fs::rename(run.paths.cacheFolder() / "blocks", run.paths.folder() / "elsewhere" / "blocks");
        fs::create_directory_symlink(run.paths.folder() / "elsewhere" / "blocks", run.paths.cacheFolder() / "blocks");
        auto reader = good(LedgerReader::open(run.paths.tracker()));
        const auto refused = checkResume(
            run.paths, good(readRunFile(run.paths)), reader, {}, [&run] { return audit(run.paths.tracker()); });
        QVERIFY(!refused.ok() && refused.error().message.find("is a link") != std::string::npos);
    }

    void aClaimOfHalfAMillionRangesHeldTheAuditUp() // each of one text against each of the other
    {
        WindowRanges ranges;
        for (std::int32_t at = 0; at < 2'000'000; at += 4)
            ranges.push_back({ at, at + 2 });
        const auto all = encodeRanges(ranges);
        ranges.pop_back();
        Changed run(whole_);
        run.sql("UPDATE claim SET ranges='" + all + "', done='" + encodeRanges(ranges) + "' WHERE id=3");
        const auto report = auditRun(run.paths, AuditDepth::Files); // took a minute and more
        QVERIFY(report.ok() && !report.value().isClean());
    }

    void tamperingIsFoundAndNamed_data()
    {
        QTest::addColumn<int>("row");
        for (int row = 0; row < static_cast<int>(tamperings().size()); ++row)
            QTest::newRow(tamperings()[static_cast<std::size_t>(row)].name) << row;
    }
    void tamperingIsFoundAndNamed()
    {
        QFETCH(int, row);
        const Tampering& tampering = tamperings()[static_cast<std::size_t>(row)];
        Changed run(whole_);
        tampering.act(run);
        const auto report = auditRun(run.paths, AuditDepth::Files);
        const std::string said = report.ok() ? allTexts(report.value()) : report.error().message.text();
        QVERIFY2(said.find(tampering.said) != std::string::npos, said.c_str());
        QCOMPARE(report.ok(), tampering.verdict != Verdict::NoLedger);
        if (!report.ok()) {
            SAME(report.error().code, ErrorCode::Corrupt);
            return;
        }
        QVERIFY2(report.value().isClean() == (tampering.verdict == Verdict::Unreadable), said.c_str());
        if (tampering.verdict == Verdict::Unreadable)
            QVERIFY2(
                !report.value().couldInspect() && said.find("not everything could be inspected") != std::string::npos,
                said.c_str());
    }

private:
    WholeRun whole_;
};

QTEST_GUILESS_MAIN(TestRunAudit)
#include "tst_run_audit.moc"
