#pragma once

#include <QByteArray>
#include <QJsonObject>
#include <QList>
#include <QString>

namespace furrow {

/// Takes the output of a furrowctl command with --json apart, which comes in pieces: an object in each line.
class JsonLines {
public:
    /// The lines that this piece completes.
    QList<QJsonObject> take(const QByteArray& piece);
    QList<QJsonObject> take(const QString& piece) { return take(piece.toUtf8()); }
    void forget() { unfinished_.clear(); }

private:
    QByteArray unfinished_;
};

} // namespace furrow
