#include "ui/bridge/brain_reader.h"

#include "core/base/path.h"

namespace furrow {

BrainReader::BrainReader(QObject* parent)
    : QObject(parent)
{
    qRegisterMetaType<BrainPtr>();
}

void BrainReader::read(const QString& folder)
{
    request_.start(
        [folder](const auto&) {
            return std::make_shared<Result<Brain>>(readBrain(RunPaths(pathFromUtf8(folder.toStdString()))));
        },
        [this](const std::shared_ptr<Result<Brain>>& brain) {
            if (brain->ok())
                Q_EMIT brainRead(std::make_shared<const Brain>(std::move(*brain).value()));
            else
                Q_EMIT failed(brain->error().message);
        });
}

} // namespace furrow
