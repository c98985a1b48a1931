#include "ui/bridge/data_prober.h"

#include "core/base/path.h"
#include "core/chat/conversation_text.h"
#include "core/config/named_tokenizer.h"
#include "core/data/hub/hub_pieces.h"
#include "core/data/tokenizer/tokenizer.h"
#include "core/run/folder/run_paths.h"

#include <chrono>

namespace furrow {

namespace {

constexpr std::int64_t kProbeMs = 1500;
constexpr qsizetype kShownChars = 400;

std::shared_ptr<const ProbeResult> look(const RunConfig& config, const QString& workspace)
{
    const KeepHubPieces kept(cacheOfWorkspace(pathFromUtf8(workspace.toStdString())), config.cacheGiB);
    const auto begin = std::chrono::steady_clock::now();
    auto result = std::make_shared<ProbeResult>();
    auto probed = probeData(config, kProbeMs);
    if (!probed.ok()) {
        result->problem = probed.error().message;
        return result;
    }
    const auto tokenizer = std::move(probed.value().tokenizer);
    result->probe = std::move(probed.value().probe);
    result->vocabularySize
        = closedValue<NamedTokenizer>(config.tokenizer) == NamedTokenizer::Char ? 0 : tokenizer->vocabularySize();
    const std::vector<std::string>& texts = result->probe.inspection.firstRows;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        ProbeResult::Row row;
        const auto& learnt = result->probe.inspection.firstLearnt;
        const bool isChat = !result->probe.inspection.conversations.empty() && i < learnt.size();
        row.text = QString::fromStdString(isChat ? markedText(texts[i], learnt[i]) : texts[i]).left(kShownChars);
        if (i < result->probe.firstTokens.size()) {
            for (const TokenId id : result->probe.firstTokens[i])
                row.tokens.push_back(QString::fromStdString(tokenizer->decode(std::span(&id, 1))));
        }
        result->rows.push_back(std::move(row));
    }
    result->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return result;
}

} // namespace

DataProber::DataProber(QObject* parent)
    : QObject(parent)
{
    qRegisterMetaType<ProbePtr>();
}

void DataProber::probe(const RunConfig& config, const QString& workspace)
{
    request_.start([config, workspace](const auto&) { return look(config, workspace); },
        [this](const ProbePtr& result) { Q_EMIT probed(result); });
}

} // namespace furrow
