#include "core/run/folder/foreign_ledger.h"

#include "core/base/is_there.h"
#include "core/base/path.h"
#include "core/base/random.h"
#include "core/base/sentence.h"
#include "core/tracker/sqlite/database_files.h"

namespace furrow {

Message foreignLedger(LedgerReader& ledger, const std::string& runId)
{
    const auto found = ledger.runId();
    if (!found.ok() || found.value().empty() || found.value() == runId)
        return {};
    return sentence("%1 belongs to run %2, and by run.json this is run %3: it proves nothing about this one.",
        { utf8Text(ledger.file()), found.value(), runId });
}

Message foreignLedger(const std::filesystem::path& ledger, const std::string& runId)
{
    if (!isThere(ledger))
        return {};
    auto reader = LedgerReader::open(ledger, {}, ReadFor::Look);
    return reader.ok() ? foreignLedger(reader.value(), runId) : Message();
}

Error foreignRefusal(const RunPaths& paths, const Message& foreign)
{
    return { ErrorCode::Corrupt,
        sentence(
            "%1 Put the right one back; or 'furrowctl doctor %2 --repair' sets this one aside and goes by what this run has of its own.",
            { foreign, utf8Text(paths.folder()) }) };
}

Result<Message> setForeignSnapshotAside(const RunPaths& paths, const std::string& runId, FileSystem& files)
{
    const auto foreign = foreignLedger(paths.trackerSnapshot(), runId);
    if (foreign.empty())
        return Message();
    auto aside = paths.trackerSnapshot();
    aside += ".foreign-" + randomHex(8);
    FURROW_TRY(moveDatabase(files, paths.trackerSnapshot(), aside));
    return sentence("%1 It is kept as %2.", { foreign, utf8Text(aside) });
}

} // namespace furrow
