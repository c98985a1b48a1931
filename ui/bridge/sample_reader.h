#pragma once

#include "core/run/status/chunk_view.h"
#include "core/tracker/types.h"
#include "ui/bridge/newest_request.h"

#include <QMetaType>
#include <QObject>
#include <QString>
#include <memory>
#include <optional>
#include <vector>

namespace furrow {

/// One sample as it is trained.
struct SampleText {
    QString file; ///< path, or address of the hub
    qint64 row = 0; ///< inside the file
    quint64 fingerprint = 0; ///< of the text: what a quarantine list names
    quint8 flags = 0; ///< SampleFlag bits
    QString text; ///< of a pair of answers: the prompt with the chosen one
    QString rejected; ///< of a pair of answers: the prompt with the rejected one; else ""
    bool isMarked = false; ///< what is learnt of these stands between « and »; else all is learnt
    std::vector<QString> tokens; ///< text of each token; at most 512
    qint64 rejectedFrom = 0; ///< of a pair of answers: the token with which the rejected one begins; else 0
    qint64 tokenCount = 0;
    std::optional<double> loss; ///< nats per token as it was trained; of a few that stood out
    QString firstFile; ///< of a repeat: where its text stands first; "": not known
    qint64 firstRow = 0;
};

/// The samples of one chunk, read from its prepared block.
struct ChunkSamples {
    qint64 block = 0;
    int column = 0;
    Message problem; ///< why there are none; "": there are
    bool keepsLosses = false; ///< some sample of the chunk has a loss
    ChunkSummary summary;
    std::vector<SampleText> samples; ///< at most 400, in the order asked for
    qint64 stored = 0; ///< how many the block holds
    std::vector<UnreadableRow> unreadable; ///< as ChunkView
};
using ChunkSamplesPtr = std::shared_ptr<const ChunkSamples>;

/// Reads samples of a chunk away from the GUI thread. Only the newest request is answered. Lives on the GUI thread.
class SampleReader : public QObject {
    Q_OBJECT
public:
    explicit SampleReader(QObject* parent = nullptr);
    void read(const QString& folder, const ChunkPlace& chunk, SampleOrder order);
    void cancel() { request_.cancel(); }

Q_SIGNALS:
    void samplesRead(const furrow::ChunkSamplesPtr& samples);

private:
    NewestRequest request_ { *this };
};

} // namespace furrow

Q_DECLARE_METATYPE(furrow::ChunkSamplesPtr)
