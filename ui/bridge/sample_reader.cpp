#include "ui/bridge/sample_reader.h"

#include "core/base/path.h"
#include "core/chat/conversation_text.h"
#include "core/data/tokenizer/tokenizer.h"

#include <algorithm>
#include <span>

namespace furrow {

namespace {

constexpr std::int64_t kMostSamples = 400;
constexpr std::size_t kMostTokens = 512;

/// A part of a text, with « and » around what is learnt of it.
QString marked(const SampleView& view, std::size_t begin, std::size_t end)
{
    std::vector<ChatStretch> learnt;
    for (const ChatStretch& stretch : view.learnt)
        if (stretch.begin < end && stretch.end > begin)
            learnt.push_back({ std::max(stretch.begin, begin) - begin, std::min(stretch.end, end) - begin });
    return QString::fromStdString(markedText(std::string_view(view.text).substr(begin, end - begin), learnt));
}

SampleText sampleOf(const SampleView& view, const Tokenizer& tokenizer)
{
    SampleText sample;
    sample.file = QString::fromStdString(view.file);
    sample.row = view.row;
    sample.fingerprint = view.fingerprint;
    sample.flags = view.flags;
    sample.tokenCount = static_cast<qint64>(view.tokens.size());
    sample.loss = view.loss;
    if (view.firstRow) {
        sample.firstFile = QString::fromStdString(view.firstRow->file);
        sample.firstRow = view.firstRow->row;
    }
    sample.isMarked = !view.learnt.empty();
    sample.rejectedFrom = view.rejectedFrom;
    const std::size_t all = view.text.size();
    const std::size_t middle = view.rejectedFrom > 0 && sample.isMarked ? std::min(view.learnt.front().end, all) : all;
    sample.text = marked(view, 0, middle);
    if (middle < all)
        sample.rejected = marked(view, middle, all);
    const std::span<const TokenId> ids(view.tokens);
    for (const TokenId& id : ids.first(std::min(ids.size(), kMostTokens)))
        sample.tokens.push_back(QString::fromStdString(tokenizer.decode(std::span(&id, 1))));
    return sample;
}

void readInto(ChunkSamples& result, const RunPaths& paths, std::int64_t epoch, SampleOrder order)
{
    const auto view = viewChunk(paths, { result.block, result.column, epoch, order, 0, kMostSamples });
    const auto tokenizer = loadTokenizer(utf8Text(paths.tokenizer()));
    if (!view.ok() || !tokenizer.ok()) {
        result.problem = (view.ok() ? tokenizer.error() : view.error()).message;
        return;
    }
    result.keepsLosses = view.value().keepsLosses;
    result.summary = view.value().summary;
    result.stored = view.value().stored;
    result.unreadable = view.value().unreadable;
    for (const SampleView& sample : view.value().samples)
        result.samples.push_back(sampleOf(sample, *tokenizer.value()));
}

} // namespace

SampleReader::SampleReader(QObject* parent)
    : QObject(parent)
{
    qRegisterMetaType<ChunkSamplesPtr>();
}

void SampleReader::read(const QString& folder, const ChunkPlace& chunk, SampleOrder order)
{
    request_.start(
        [folder, chunk, order](const auto&) {
            auto result = std::make_shared<ChunkSamples>();
            result->block = chunk.block;
            result->column = chunk.column;
            readInto(*result, RunPaths(pathFromUtf8(folder.toStdString())), chunk.epoch, order);
            return result;
        },
        [this](const ChunkSamplesPtr& samples) { Q_EMIT samplesRead(samples); });
}

} // namespace furrow
