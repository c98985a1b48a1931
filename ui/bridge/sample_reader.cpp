#include "ui/bridge/sample_reader.h"

#include "core/base/path.h"
#include "core/data/tokenizer/tokenizer.h"
#include "core/run/chunk_view.h"

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
    sample.text = QString::fromStdString(view.text);
    const std::span<const TokenId> ids(view.tokens);
    for (const TokenId& id : ids.first(std::min(ids.size(), kMostTokens)))
        sample.tokens.push_back(QString::fromStdString(tokenizer.decode(std::span(&id, 1))));
    return sample;
}

void readInto(ChunkSamples& result, const RunPaths& paths)
{
    const auto view = viewChunk(paths, { result.block, result.column, 0, kMostSamples });
    const auto tokenizer = loadTokenizer(utf8Text(paths.tokenizer()));
    if (!view.ok() || !tokenizer.ok()) {
        result.problem = QString::fromStdString((view.ok() ? tokenizer.error() : view.error()).message);
        return;
    }
    result.summary = view.value().summary;
    result.stored = view.value().stored;
    for (const SampleView& sample : view.value().samples)
        result.samples.push_back(sampleOf(sample, *tokenizer.value()));
}

} // namespace

SampleReader::SampleReader(QObject* parent)
    : QObject(parent)
{
    qRegisterMetaType<ChunkSamplesPtr>();
}

void SampleReader::read(const QString& folder, qint64 block, int column)
{
    request_.start(
        [folder, block, column](const auto&) {
            auto result = std::make_shared<ChunkSamples>();
            result->block = block;
            result->column = column;
            readInto(*result, RunPaths(pathFromUtf8(folder.toStdString())));
            return result;
        },
        [this](const ChunkSamplesPtr& samples) { Q_EMIT samplesRead(samples); });
}

} // namespace furrow
