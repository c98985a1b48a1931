#include "ui/bridge/brain_reader.h"

#include "core/base/path.h"

namespace furrow {

BrainReader::BrainReader(QObject* parent)
    : QObject(parent)
{
    qRegisterMetaType<BrainPtr>();
    pool_.setMaxThreadCount(1);
}

BrainReader::~BrainReader()
{
    ++newest_;
    pool_.clear();
    pool_.waitForDone();
}

void BrainReader::read(const QString& folder)
{
    ++newest_;
    pool_.clear();
    pool_.start([this, folder, mine = newest_.load()] {
        auto brain = readBrain(RunPaths(pathFromUtf8(folder.toStdString())));
        const BrainPtr found = brain.ok() ? std::make_shared<const Brain>(std::move(brain).value()) : nullptr;
        const QString sentence = found ? QString() : QString::fromStdString(brain.error().message);
        QMetaObject::invokeMethod(
            this, [this, mine, found, sentence] {
                if (mine != newest_)
                    return;
                if (found)
                    Q_EMIT brainRead(found);
                else
                    Q_EMIT failed(sentence);
            },
            Qt::QueuedConnection);
    });
}

} // namespace furrow
