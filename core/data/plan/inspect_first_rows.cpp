#include "core/data/plan/inspect_first_rows.h"

#include "core/base/clock.h"
#include "core/base/sentence.h"
#include "core/base/utf8.h"
#include "core/chat/pair_text.h"
#include "core/chat/row_problems.h"
#include "core/data/plan/duplicate_index.h"
#include "core/data/plan/each_row.h"
#include "core/data/plan/passed_over.h"
#include "core/data/plan/sample_encoder.h"
#include "core/data/source/data_format.h"
#include "core/data/source/json_text.h"
#include "core/data/source/row_reader.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace furrow {

namespace {

constexpr std::size_t kFirstRows = 5;
constexpr std::size_t kFirstRowBytes = 2000;

/// Why the first row cannot be used; "" where it can.
Result<std::string> firstProblem(const RunConfig& config, const DataSource& source)
{
    DirectAccess access;
    FURROW_TRY_ASSIGN(auto reader, openRowReader(access, source.files.front(), rowOptions(config, source), 0));
    Row row;
    const auto more = reader->next(row);
    if (!more.ok() && PassedOver::takes(config, more.error()))
        return std::string(literal(kRowDamaged));
    if (!more.ok())
        return more.error();
    return std::string(more.value() && row.problem != nullptr ? row.problem : "");
}

/// A conversation, or a pair of answers with objective dpo, as the model reads it.
Result<ConversationText> writtenOf(
    std::string_view row, const RunConfig& config, const std::optional<ConversationRenderer>& renderer)
{
    if (config.objective != Objective::Dpo)
        return renderer->write(row, config.chatLoss);
    FURROW_TRY_ASSIGN(const auto pair, readAnswerPair(row));
    FURROW_TRY_ASSIGN(const auto text, writePair(pair, renderer ? &*renderer : nullptr));
    return shownPair(text);
}

/// Its name says text, and so it is read; a person may have meant its columns.
void sayThatItIsJson(const DataFile& file, DataInspection& inspection)
{
    if (file.format.format != TextFormat::Text || dataExtension(file.path) != "txt" || inspection.firstRows.empty())
        return;
    const std::string_view row = inspection.firstRows.front();
    if (isJsonObject(row.substr(0, row.find('\n'))))
        inspection.reading.push_back(sentence(
            "%1 is text by its name, and is trained as it stands, though its lines are JSON objects. Name it .jsonl to train a column of them.",
            { file.path }));
}

} // namespace

Status readFirstRows(const RunConfig& config, const DataManifest& manifest, DataInspection& inspection)
{
    constexpr int kMostRefused = 100;
    constexpr std::int64_t kLongestNs = 5'000'000'000; // of rows that are refused: a template may count for long
    const std::int64_t start = systemClock().monotonicNs();
    std::optional<ConversationRenderer> renderer;
    if (manifest.chat) {
        FURROW_TRY_ASSIGN(renderer, ConversationRenderer::open(*manifest.chat));
    }
    int refused = 0;
    Message why;
    FURROW_TRY(readEachRow(config, inspection.manifest, [&](const Row& row, RowPlace) -> Result<bool> {
        ConversationText written { std::string(row.text), {} };
        if (row.isConversation) {
            auto conversation = writtenOf(row.text, config, renderer);
            if (!conversation.ok()) {
                why = why.empty() ? conversation.error().message : why;
                return ++refused < kMostRefused && systemClock().monotonicNs() - start < kLongestNs;
            }
            written = std::move(conversation).value();
        }
        const std::string_view text = written.text;
        const bool valid = isValidUtf8(text.substr(0, kFirstRowBytes + 4));
        inspection.firstRows.emplace_back(
            valid ? cutAtCodePoint(text, kFirstRowBytes) : text.substr(0, kFirstRowBytes));
        inspection.firstLearnt.push_back(std::move(written.learnt));
        return inspection.firstRows.size() < kFirstRows;
    }));
    sayThatItIsJson(manifest.sources.front().files.front(), inspection);
    const bool areConversations = manifest.sources.front().conversation != ConversationForm::None;
    if (inspection.firstRows.empty() && why.empty()) {
        FURROW_TRY_ASSIGN(why, firstProblem(config, manifest.sources.front()));
    }
    if (inspection.firstRows.empty() && !why.empty() && areConversations)
        return Error { ErrorCode::InvalidArgument,
            sentence(
                "No conversation of %1 can be trained: the first one %2. A template that marks with {% generation %} what the assistant writes fits all conversations; with chat_loss last one without it fits more.",
                { config.data.front(), why }) };
    if (inspection.firstRows.empty())
        inspection.warnings.push_back(why.empty()
                ? sentence("The filters leave no row of the data.")
                : sentence("No row of the data is left: the first one %1, and the filters leave none that can be read.",
                      { why }));
    return {};
}

} // namespace furrow
