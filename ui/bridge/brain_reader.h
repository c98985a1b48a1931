#pragma once

#include "core/base/result.h"
#include "core/run/brain.h"

#include <QObject>
#include <QThreadPool>
#include <atomic>
#include <memory>

namespace furrow {

using BrainPtr = std::shared_ptr<const Brain>;

/// Reads the lineage of a run's weights away from the GUI thread. Only the newest request is answered. Lives on the GUI thread.
class BrainReader : public QObject {
    Q_OBJECT
public:
    explicit BrainReader(QObject* parent = nullptr);
    ~BrainReader() override;
    void read(const QString& folder);

Q_SIGNALS:
    void brainRead(const furrow::BrainPtr& brain);
    void failed(const QString& sentence);

private:
    QThreadPool pool_; // one thread
    std::atomic<quint64> newest_ = 0;
};

} // namespace furrow

Q_DECLARE_METATYPE(furrow::BrainPtr)
