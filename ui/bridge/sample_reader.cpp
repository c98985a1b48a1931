#include "ui/bridge/sample_reader.h"

#include "core/base/path.h"
#include "core/data/tokenizer/tokenizer.h"
#include "core/run/run_paths.h"
#include "core/tracker/ledger_reader.h"

#include <QCoreApplication>
#include <algorithm>

namespace furrow {

namespace {

constexpr std::int64_t kMostSamples = 400;
constexpr std::size_t kMostTokens = 512;

QString said(const Error& error)
{
    return QString::fromStdString(error.message);
}

SampleText sampleOf(const ChunkText& chunk, std::int64_t i, const Tokenizer& tokenizer)
{
    const auto at = static_cast<std::size_t>(i);
    const std::span<const TokenId> ids(chunk.tokens.data() + chunk.offsets[at], chunk.offsets[at + 1] - chunk.offsets[at]);
    SampleText sample;
    sample.file = chunk.files[at];
    sample.row = chunk.rows[at];
    sample.flags = chunk.flags[at];
    sample.tokenCount = static_cast<qint64>(ids.size());
    sample.text = QString::fromStdString(tokenizer.decode(ids));
    for (const TokenId& id : ids.first(std::min(ids.size(), kMostTokens)))
        sample.tokens.push_back(QString::fromStdString(tokenizer.decode(std::span(&id, 1))));
    return sample;
}

void readInto(ChunkSamples& result, const RunPaths& paths)
{
    auto ledger = LedgerReader::open(paths.tracker());
    if (!ledger.ok()) {
        result.problem = said(ledger.error());
        return;
    }
    auto row = ledger.value().block(result.block);
    if (!row.ok()) {
        result.problem = said(row.error());
        return;
    }
    if (row.value().fileName.empty()) {
        result.problem = QCoreApplication::translate("SampleReader", "Block %1 is not prepared now.").arg(result.block);
        return;
    }
    auto block = PreparedBlock::open(paths.cacheFolder() / "blocks" / row.value().fileName);
    auto tokenizer = loadTokenizer(utf8Text(paths.tokenizer()));
    if (!block.ok() || !tokenizer.ok()) {
        result.problem = said(block.ok() ? tokenizer.error() : block.error());
        return;
    }
    if (result.column >= block.value().chunkCount()) {
        result.problem = QCoreApplication::translate("SampleReader", "Block %1 has only %2 chunks.").arg(result.block).arg(block.value().chunkCount());
        return;
    }
    result.summary = block.value().summary(result.column);
    auto chunk = block.value().readChunk(result.column);
    if (!chunk.ok()) {
        result.problem = said(chunk.error());
        return;
    }
    result.stored = chunk.value().count();
    for (std::int64_t i = 0; i < std::min<std::int64_t>(result.stored, kMostSamples); ++i)
        result.samples.push_back(sampleOf(chunk.value(), i, *tokenizer.value()));
}

} // namespace

SampleReader::SampleReader(QObject* parent)
    : QObject(parent)
{
    qRegisterMetaType<ChunkSamplesPtr>();
    pool_.setMaxThreadCount(1);
}

SampleReader::~SampleReader()
{
    cancel();
    pool_.waitForDone();
}

void SampleReader::cancel()
{
    ++newest_;
    pool_.clear();
}

void SampleReader::read(const QString& folder, qint64 block, int column)
{
    cancel();
    pool_.start([this, folder, block, column, mine = newest_.load()] {
        auto result = std::make_shared<ChunkSamples>();
        result->block = block;
        result->column = column;
        readInto(*result, RunPaths(pathFromUtf8(folder.toStdString())));
        QMetaObject::invokeMethod(
            this, [this, mine, result] {
                if (mine == newest_)
                    Q_EMIT samplesRead(result);
            },
            Qt::QueuedConnection);
    });
}

} // namespace furrow
