#include "core/tracker/training_notes.h"

#include "core/base/sentence.h"
#include "core/tracker/ledger_file.h"
#include "core/tracker/epochs.h"
#include "core/tracker/kept_messages.h"
#include "core/tracker/row_bounds.h"
#include "core/tracker/run_event_texts.h"
#include "core/tracker/worker_ledger.h"
#include "core/tracker/worker_state.h"

#include <charconv>
#include <string_view>
#include <utility>

namespace furrow {

namespace {

constexpr const char* kRatePlan = "rate_plan";
constexpr std::string_view kRollback = "rollback-"; // and the replica
constexpr const char* kMostParticipations = "most_participations"; // epochs.cpp reads it

Result<LedgerFile> openPatiently(const std::filesystem::path& tracker, const Clock& clock, Patience patience)
{
    FURROW_TRY_ASSIGN(auto file, openLedger(tracker, clock));
    if (patience)
        file.db.setPatience(std::move(patience));
    return file;
}

} // namespace

Result<TrainingNotes> readTrainingNotes(const std::filesystem::path& tracker)
{
    FURROW_TRY_ASSIGN(auto opened, openForReading(tracker));
    Database& db = opened;
    FURROW_TRY_ASSIGN(auto view, Transaction::read(db));
    TrainingNotes notes;
    {
        Rows rows = db.query("SELECT key, value FROM meta WHERE key=? OR key LIKE 'rollback-%'", kRatePlan);
        while (rows.next()) {
            const std::string key = rows.text(0);
            std::int32_t replica = 0;
            if (key == kRatePlan)
                notes.ratePlan = rows.text(1);
            else if (std::from_chars(key.data() + kRollback.size(), key.data() + key.size(), replica).ec == std::errc())
                notes.rollbacks[replica] = rows.text(1);
        }
    }
    notes.positionTokens = bounded(db, loadRunState(db).claimedTokens, kTotalBounds);
    notes.uncommittedTokens = bounded(db,
        db.integer("SELECT sum(tokens*(windows-covered)/windows) FROM chunk WHERE state IN (2, 3) AND windows>0")
            .value_or(0),
        kTotalBounds);
    FURROW_TRY(view.commit());
    return notes;
}

Result<SkippedWindows> skippedWindows(const std::filesystem::path& tracker)
{
    FURROW_TRY_ASSIGN(auto opened, openForReading(tracker));
    Database& db = opened;
    SkippedWindows found;
    {
        Rows row = db.query(
            "SELECT coalesce(sum((past-first)*skipped), 0), coalesce(sum(past-first), 0) FROM part WHERE alive=1");
        if (row.next())
            found = { boundedAt(db, row, 0, kTotalBounds), boundedAt(db, row, 1, kTotalBounds) };
    }
    FURROW_TRY(db.takeStatus());
    return found;
}

Result<std::int64_t> noiseSalt(const std::filesystem::path& tracker)
{
    FURROW_TRY_ASSIGN(auto opened, openForReading(tracker));
    Database& db = opened;
    const std::int64_t lost = bounded(db,
        db.integer("SELECT (SELECT count(*) FROM claim WHERE outcome=?)+(SELECT count(*) FROM part WHERE alive=0)",
              ClaimOutcome::Lost)
            .value_or(0),
        kTotalBounds);
    const auto madeAnew = db.integer("SELECT CAST(value AS INTEGER) FROM meta WHERE key=?", kMadeAnew).value_or(0);
    FURROW_TRY(db.takeStatus());
    return madeAnew + lost;
}

Result<std::int64_t> tokensIn(const std::filesystem::path& tracker, std::span<const ChunkId> chunks)
{
    FURROW_TRY_ASSIGN(auto opened, openForReading(tracker));
    Database& db = opened;
    FURROW_TRY_ASSIGN(auto view, Transaction::read(db));
    std::int64_t tokens = 0;
    for (const ChunkId chunk : chunks)
        tokens += db.integer("SELECT tokens FROM chunk WHERE id=?", chunk).value_or(0);
    FURROW_TRY(view.commit());
    return tokens;
}

Status noteRunEvent(const std::filesystem::path& tracker, const Message& what, const Clock& clock, Patience patience)
{
    FURROW_TRY_ASSIGN(auto opened, openPatiently(tracker, clock, std::move(patience)));
    LedgerFile& file = opened;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(file.db));
    writeRunEvent(file, 0, what);
    return transaction.commit();
}

Status keepGoesOnWithout(const std::filesystem::path& tracker, const std::vector<Message>& what, Patience patience)
{
    FURROW_TRY_ASSIGN(auto opened, openPatiently(tracker, systemClock(), std::move(patience)));
    LedgerFile& file = opened;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(file.db));
    Message all;
    for (const Message& one : what) {
        writeRunEvent(file, 0, one);
        all += (all.empty() ? "" : " ") + one;
    }
    if (all.empty()) {
        file.db.run("DELETE FROM meta WHERE key=?", kGoesOnWithout);
    } else {
        keepMessage(file.db, all);
        storeMeta(file.db, kGoesOnWithout, all);
    }
    return transaction.commit();
}

Status keepRatePlan(
    const std::filesystem::path& tracker, const std::string& plan, const Message& event, Patience patience)
{
    FURROW_TRY_ASSIGN(auto opened, openPatiently(tracker, systemClock(), std::move(patience)));
    LedgerFile& file = opened;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(file.db));
    storeMeta(file.db, kRatePlan, plan);
    if (!event.empty()) {
        file.db.run("DELETE FROM meta WHERE key LIKE 'rollback-%'");
        writeRunEvent(file, 0, event);
    }
    if (Status status = transaction.commit(); !status.ok())
        return status.error().in(sentence("keeping the plan of the learning rate"));
    return {};
}

Status keepMostParticipations(const std::filesystem::path& tracker, std::int64_t most, Patience patience)
{
    FURROW_TRY_ASSIGN(auto opened, openPatiently(tracker, systemClock(), std::move(patience)));
    LedgerFile& file = opened;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(file.db));
    if (file.db.integer("SELECT CAST(value AS INTEGER) FROM meta WHERE key=?", kMostParticipations) != most) {
        storeMeta(file.db, kMostParticipations, std::to_string(most));
        updateStop(file);
    }
    return transaction.commit();
}

Status WorkerLedger::keepNotSaved(const Message& why)
{
    LedgerFile& file = state_->file;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(file.db));
    requireLive(file, state_->incarnation);
    const std::string key = kNotSaved + std::to_string(state_->incarnation);
    const std::string worker = std::to_string(state_->worker);
    const Message text = why.empty() ? sentence(kSavesAgain, { worker }) : sentence(kCannotSave, { worker, why });
    writeRunEvent(file, state_->incarnation, text); // keeps its parts
    if (why.empty())
        file.db.run("DELETE FROM meta WHERE key=?", key);
    else
        storeMeta(file.db, key, text);
    return transaction.commit();
}

Status keepHistoryLost(const std::filesystem::path& tracker, const Clock& clock, Patience patience)
{
    FURROW_TRY_ASSIGN(auto opened, openPatiently(tracker, clock, std::move(patience)));
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(opened.db));
    storeMeta(opened.db, kMadeAnew, std::to_string(clock.wallNs()));
    return transaction.commit();
}

Status WorkerLedger::keepRollback(const std::string& note)
{
    LedgerFile& file = state_->file;
    FURROW_TRY_ASSIGN(auto transaction, Transaction::begin(file.db));
    requireLive(file, state_->incarnation);
    storeMeta(file.db, std::string(kRollback) + std::to_string(state_->replica), note);
    return transaction.commit();
}

} // namespace furrow
