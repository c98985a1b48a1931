#include "core/data/plan/each_row.h"

#include "core/chat/answer_pair.h"
#include "core/chat/pair_text.h"
#include "core/data/hub/hub_pieces.h"
#include "core/data/plan/chunk_collector.h"
#include "core/data/plan/row_walk.h"
#include "core/data/plan/sample_encoder.h"
#include "core/data/source/data_manifest.h"
#include "core/data/source/row_reader.h"

#include <optional>

namespace furrow {

Status forEachRow(
    const RunConfig& config, const std::string& manifest, const std::function<Result<bool>(const Row&)>& onRow)
{
    return forEachPlacedRow(config, manifest, [&onRow](const Row& row, RowPlace) { return onRow(row); });
}

Status forEachPlacedRow(const RunConfig& config, const std::string& manifest,
    const std::function<Result<bool>(const Row&, RowPlace)>& onRow, RowsLeft* left)
{
    auto status = readEachRow(config, manifest, onRow, left);
    if (!status.ok())
        (void)doubtWhatCame(status.error()); // the caller has taken some of the rows, and may begin anew
    return status;
}

Status forEachText(
    const RunConfig& config, const std::string& manifest, const std::function<Result<bool>(std::string_view)>& onText)
{
    FURROW_TRY_ASSIGN(const auto read, readManifest(manifest));
    std::optional<ConversationRenderer> renderer;
    if (read.chat) {
        FURROW_TRY_ASSIGN(renderer, ConversationRenderer::open(*read.chat));
    }
    return forEachRow(config, manifest, [&](const Row& row) -> Result<bool> {
        if (row.isConversation && config.objective == Objective::Dpo) {
            const auto pair = readAnswerPair(row.text);
            const auto text = pair.ok() ? writePair(pair.value(), renderer ? &*renderer : nullptr) : pair.error();
            if (!text.ok())
                return true;
            FURROW_TRY_ASSIGN(const bool goesOn, onText(text.value().chosen));
            return goesOn ? onText(text.value().rejected) : Result<bool>(false);
        }
        if (!row.isConversation || !renderer)
            return onText(row.text);
        const auto written = renderer->write(row.text, config.chatLoss);
        return written.ok() ? onText(written.value().text) : Result<bool>(true);
    });
}

Status readEachRow(const RunConfig& config, const std::string& manifest,
    const std::function<Result<bool>(const Row&, RowPlace)>& onRow, RowsLeft* left)
{
    FURROW_TRY_ASSIGN(const auto read, readManifest(manifest));
    FURROW_TRY_ASSIGN(const auto rules, sampleRules(config, read));
    RowsLeft unasked;
    RowsLeft& others = left != nullptr ? *left : unasked;
    return walkRows(config, read, [&](const Row& row, const WalkedRow& at) -> Result<Walk> {
        if (row.problem != nullptr) {
            if (others.unreadable++ == 0)
                others.firstUnreadable = rowInWords(at.place.row, at.file, row.problem);
            return Walk::On;
        }
        FURROW_TRY_ASSIGN(const bool isLeftOut, rules.isLeftOut(row.text));
        if (isLeftOut) {
            ++others.filtered;
            return Walk::On;
        }
        FURROW_TRY_ASSIGN(const bool goesOn, onRow(row, at.place));
        return goesOn ? Walk::On : Walk::End;
    });
}

bool doubtWhatCame(const Error& error)
{
    const auto pieces = error.code == ErrorCode::Corrupt ? KeepHubPieces::current() : nullptr;
    return pieces && pieces->forgetSeen();
}

} // namespace furrow
