#pragma once

#include "core/data/probe.h"
#include "ui/bridge/newest_request.h"

#include <QMetaType>
#include <QObject>
#include <QString>
#include <QStringList>
#include <memory>
#include <vector>

namespace furrow {

/// What a look at the data brought, ready to be shown.
struct ProbeResult {
    Message problem; ///< why the data cannot be used; "": it can
    DataProbe probe;
    double seconds = 0;
    struct Row {
        QString text; ///< of a conversation: what is learnt stands between « and »
        std::vector<QString> tokens; ///< text of each token, in order
    };
    std::vector<Row> rows; ///< first samples
    qint64 vocabularySize = 0;
};
using ProbePtr = std::shared_ptr<const ProbeResult>;

/// Looks at a data set away from the GUI thread. Only the newest request is answered. Lives on the GUI thread.
class DataProber : public QObject {
    Q_OBJECT
public:
    explicit DataProber(QObject* parent = nullptr);
    /// What has to be fetched for it is kept in the cache of the workspace.
    void probe(const RunConfig& config, const QString& workspace);
    void cancel() { request_.cancel(); }

Q_SIGNALS:
    void probed(const furrow::ProbePtr& result);

private:
    NewestRequest request_ { *this };
};

} // namespace furrow

Q_DECLARE_METATYPE(furrow::ProbePtr)
