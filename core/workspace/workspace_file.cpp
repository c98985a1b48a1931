#include "core/workspace/workspace_file.h"

#include "core/base/file_lock.h"
#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/base/process.h"
#include "core/base/sentence.h"
#include "core/base/utf8.h"
#include "core/run/folder/before_writing.h"
#include "core/workspace/workspace_paths.h"

#include <algorithm>

namespace furrow {

namespace {

constexpr std::int64_t kVersion = 1;
constexpr std::uintmax_t kLargeWal = 1 << 20;
constexpr int kLookMs = 2'500; // for who has locked the file: somebody waits for the answer
constexpr std::size_t kMostTags = 50; // of a run
constexpr std::size_t kMostTagBytes = 100;
constexpr std::size_t kMostNoteBytes = 64 << 10;

constexpr const char* kSchema
    = "CREATE TABLE run (folder TEXT PRIMARY KEY, tags TEXT NOT NULL, grp TEXT NOT NULL, note TEXT NOT NULL, archived INTEGER NOT NULL);"
      "CREATE TABLE queue (id INTEGER PRIMARY KEY, turn INTEGER NOT NULL, run TEXT NOT NULL, name TEXT NOT NULL, lane TEXT NOT NULL,"
      "  state INTEGER NOT NULL, outcome TEXT NOT NULL);"
      "CREATE TABLE setting (key TEXT PRIMARY KEY, value INTEGER NOT NULL);"
      "PRAGMA user_version=1;";

std::string joined(std::vector<std::string> tags)
{
    std::sort(tags.begin(), tags.end());
    tags.erase(std::unique(tags.begin(), tags.end()), tags.end());
    std::string text;
    for (const std::string& tag : tags) {
        if (!tag.empty())
            text += (text.empty() ? "" : "\n") + tag;
    }
    return text;
}

std::vector<std::string> split(const std::string& text)
{
    std::vector<std::string> tags;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        tags.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return tags;
}

/// What anybody who may write to a shared workspace could have written.
std::string bounded(const std::string& text, std::size_t mostBytes)
{
    return text.size() <= mostBytes ? text : std::string(cutAtCodePoint(text, mostBytes)) + "...";
}

std::vector<std::string> boundedTags(const std::string& text)
{
    auto tags = split(bounded(text, kMostTags * kMostTagBytes));
    tags.resize(std::min(tags.size(), kMostTags));
    for (std::string& tag : tags)
        tag = bounded(tag, kMostTagBytes);
    return tags;
}

Status checkTags(const std::vector<std::string>& tags)
{
    if (tags.size() > kMostTags)
        return Error { ErrorCode::InvalidArgument,
            sentence("A run has at most %1 tags.", { Count(static_cast<std::int64_t>(kMostTags)) }) };
    for (const std::string& tag : tags)
        if (tag.size() > kMostTagBytes)
            return Error { ErrorCode::InvalidArgument,
                sentence("The tag %1 is too long. Keep what is longer than a few words as a note.",
                    { bounded(tag, kMostTagBytes / 2) }) };
    return {};
}

/// Makes the file once, whoever comes first.
Status makeFile(const std::filesystem::path& workspace)
{
    FURROW_TRY(realFileSystem().createFolders(workspace));
    // Under a name of its own until it is whole: two programs that begin at once must not see half a file.
    const auto draft = workspace / ("library." + std::to_string(thisProcess().pid) + ".new");
    {
        FURROW_TRY_ASSIGN(auto db, Database::create(draft));
        db.script(kSchema);
        FURROW_TRY(db.takeStatus());
        FURROW_TRY(db.checkpoint(Database::WalFile::Empty));
    }
    std::error_code failed;
    const bool exists = std::filesystem::exists(workspaceFile(workspace), failed);
    auto renamed = exists ? Status {} : realFileSystem().rename(draft, workspaceFile(workspace));
    for (const char* tail : { "", "-wal", "-shm" }) {
        auto rest = draft;
        rest += tail;
        (void)realFileSystem().removeAll(rest);
    }
    return std::filesystem::exists(workspaceFile(workspace), failed) ? Status {} : renamed;
}

/// core/DECISIONS.md 20: never two processes that move the WAL at once.
void shrinkWal(Database& db, const std::filesystem::path& workspace)
{
    std::error_code failed;
    auto wal = workspaceFile(workspace);
    wal += "-wal";
    const auto size = std::filesystem::file_size(wal, failed);
    if (failed || size < kLargeWal)
        return;
    if (auto lock = FileLock::tryLock(libraryLock(workspace)); lock.ok())
        (void)db.checkpoint(Database::WalFile::Empty); // the next opening tries again
}

/// Of this file, not of a tracker, which doctor could repair.
Status aboutLibrary(const Status& status, const std::filesystem::path& workspace)
{
    if (status.ok() || status.error().code != ErrorCode::Corrupt)
        return status;
    return Error { ErrorCode::Corrupt,
        sentence(
            "%1, which holds tags, notes and the queue, is damaged. Move it away: Furrow makes a new one, and the runs are as they were.",
            { utf8Text(workspaceFile(workspace)) }) };
}

} // namespace

std::string toString(QueueState state)
{
    return state == QueueState::Waiting ? "waiting" : state == QueueState::Running ? "running" : "ended";
}

std::string noteKey(const std::filesystem::path& workspace, const std::filesystem::path& run)
{
    return run.parent_path() == runsOf(workspace) ? "runs/" + utf8Text(run.filename()) : utf8Text(run);
}

std::filesystem::path workspaceFile(const std::filesystem::path& workspace) { return workspace / "library.sqlite"; }

std::filesystem::path queueLock(const std::filesystem::path& workspace) { return workspace / "queue.lock"; }

Result<WorkspaceFile> WorkspaceFile::open(const std::filesystem::path& workspace)
{
    FURROW_TRY(beforeWritingBelow(workspace));
    std::error_code failed;
    if (!std::filesystem::exists(workspaceFile(workspace), failed)) {
        if (isLink(workspaceFile(workspace)))
            return Error { ErrorCode::InvalidArgument,
                sentence(
                    "%1, which holds tags, notes and the queue, is a link to what is not there. Bring that back, or remove the link: Furrow makes a new file then.",
                    { utf8Text(workspaceFile(workspace)) }) };
        FURROW_TRY(makeFile(workspace));
    }
    FURROW_TRY_ASSIGN(auto file, checked(workspace, Database::open(workspaceFile(workspace), {})));
    shrinkWal(file.db_, workspace);
    return file;
}

Result<WorkspaceFile> WorkspaceFile::look(const std::filesystem::path& workspace)
{
    const auto file = workspaceFile(workspace);
    auto opened
        = Database::open(file, { .access = Database::Access::ReadOnly, .makesNothing = true, .busyMs = kLookMs });
    if (!opened.ok() && opened.error().code == ErrorCode::Io) // it has no WAL, so nobody writes
        opened = Database::open(file, { .access = Database::Access::ReadOnly, .immutable = true });
    return checked(workspace, std::move(opened));
}

Result<WorkspaceFile> WorkspaceFile::checked(const std::filesystem::path& workspace, Result<Database> opened)
{
    if (!opened.ok())
        return aboutLibrary(opened.error(), workspace).error();
    auto db = std::move(opened).value();
    const auto version = db.integer("PRAGMA user_version");
    FURROW_TRY(aboutLibrary(db.takeStatus(), workspace));
    if (version.value_or(0) < kVersion)
        return Error { ErrorCode::InvalidArgument,
            sentence(
                "%1 should hold tags, notes and the queue, and is a database of another program. Move it away: Furrow makes a new one, and the runs are as they were.",
                { utf8Text(workspaceFile(workspace)) }) };
    if (version.value_or(0) != kVersion)
        return Error { ErrorCode::InvalidArgument,
            sentence("%1 was written by a newer Furrow (version %2); use that one",
                { utf8Text(workspaceFile(workspace)), std::to_string(version.value_or(0)) }) };
    return WorkspaceFile(workspace, std::move(db));
}

Status WorkspaceFile::takeStatus() { return aboutLibrary(db_.takeStatus(), workspace_); }

Status WorkspaceFile::inTransaction(const std::function<void()>& work)
{
    auto transaction = Transaction::begin(db_);
    if (!transaction.ok())
        return aboutLibrary(transaction.error(), workspace_);
    work();
    return aboutLibrary(transaction.value().commit(), workspace_);
}

Result<std::map<std::string, RunNotes>> WorkspaceFile::notes()
{
    std::map<std::string, RunNotes> all;
    {
        Rows rows = db_.query("SELECT folder, tags, grp, note, archived FROM run");
        while (rows.next())
            all[rows.text(0)] = { boundedTags(rows.text(1)), bounded(rows.text(2), kMostTagBytes),
                bounded(rows.text(3), kMostNoteBytes), rows.integer(4) != 0 };
    }
    FURROW_TRY(takeStatus());
    return all;
}

Status WorkspaceFile::setNotes(const std::string& run, const RunNotes& notes)
{
    FURROW_TRY(checkTags(notes.tags));
    FURROW_TRY(checkTags({ notes.group }));
    const std::string tags = joined(notes.tags);
    return inTransaction([&] {
        if (notes == RunNotes {})
            db_.run("DELETE FROM run WHERE folder=?", run);
        else
            db_.run(
                "INSERT INTO run (folder, tags, grp, note, archived) VALUES (?,?,?,?,?) ON CONFLICT(folder) DO UPDATE SET tags=excluded.tags, grp=excluded.grp, "
                "note=excluded.note, archived=excluded.archived",
                run, tags, notes.group, notes.note, notes.archived ? 1 : 0);
    });
}

Result<std::vector<QueueEntry>> WorkspaceFile::queue()
{
    std::vector<QueueEntry> entries;
    {
        Rows rows = db_.query("SELECT id, run, name, lane, state, outcome FROM queue ORDER BY turn, id");
        while (rows.next())
            entries.push_back({ rows.integer(0), rows.text(1), rows.text(2), rows.text(3),
                static_cast<QueueState>(rows.integer(4)), rows.text(5) });
    }
    FURROW_TRY(takeStatus());
    return entries;
}

Status WorkspaceFile::enqueue(const std::string& run, const std::string& name, const std::string& lane)
{
    return inTransaction([&] {
        if (db_.integer("SELECT id FROM queue WHERE run=? AND state<2", run))
            db_.fail({ ErrorCode::InvalidArgument, sentence("%1 is in the queue already", { run }) });
        const auto last = db_.integer("SELECT max(turn) FROM queue").value_or(0);
        db_.run("INSERT INTO queue (turn, run, name, lane, state, outcome) VALUES (?,?,?,?,0,'')", last + 1, run, name,
            lane);
    });
}

Status WorkspaceFile::removeEntry(std::int64_t id)
{
    return inTransaction([&] {
        if (db_.integer("SELECT state FROM queue WHERE id=?", id) == static_cast<std::int64_t>(QueueState::Running))
            db_.fail({ ErrorCode::InvalidArgument, sentence("this run of the queue is in training; stop it first") });
        if (db_.run("DELETE FROM queue WHERE id=?", id) == 0)
            db_.fail({ ErrorCode::InvalidArgument, sentence("the queue has no entry %1", { std::to_string(id) }) });
    });
}

Status WorkspaceFile::moveEntry(std::int64_t id, std::int64_t position)
{
    return inTransaction([&] {
        std::vector<std::int64_t> order;
        {
            Rows rows = db_.query("SELECT id FROM queue ORDER BY turn, id");
            while (rows.next())
                order.push_back(rows.integer(0));
        }
        const auto at = std::find(order.begin(), order.end(), id);
        if (at == order.end()) {
            db_.fail({ ErrorCode::InvalidArgument, sentence("the queue has no entry %1", { std::to_string(id) }) });
            return;
        }
        order.erase(at);
        order.insert(
            order.begin() + std::clamp<std::int64_t>(position, 0, static_cast<std::int64_t>(order.size())), id);
        std::int64_t turn = 0;
        for (const std::int64_t entry : order)
            db_.run("UPDATE queue SET turn=? WHERE id=?", ++turn, entry);
    });
}

Status WorkspaceFile::setEntry(std::int64_t id, QueueState state, const std::string& outcome)
{
    return inTransaction([&] {
        db_.run("UPDATE queue SET state=?, outcome=? WHERE id=?", static_cast<std::int64_t>(state), outcome, id);
    });
}

Status WorkspaceFile::removeEnded()
{
    return inTransaction([&] { db_.run("DELETE FROM queue WHERE state=2"); });
}

Status WorkspaceFile::setQueuePaused(bool paused)
{
    return inTransaction([&] {
        db_.run(
            "INSERT INTO setting (key, value) VALUES ('queue_paused', ?) ON CONFLICT(key) DO UPDATE SET value=excluded.value",
            paused ? 1 : 0);
    });
}

Result<bool> WorkspaceFile::isQueuePaused()
{
    const auto paused = db_.integer("SELECT value FROM setting WHERE key='queue_paused'");
    FURROW_TRY(takeStatus());
    return paused.value_or(0) != 0;
}

} // namespace furrow
