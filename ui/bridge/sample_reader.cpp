#include "ui/bridge/sample_reader.h"

#include "core/base/path.h"
#include "core/data/tokenizer/tokenizer.h"

#include <algorithm>
#include <span>

namespace furrow {

namespace {

constexpr std::int64_t kMostSamples = 400;
constexpr std::size_t kMostTokens = 512;

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
    sample.text = QString::fromStdString(view.text);
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
