// Core says why it thinks that a run is in its state in English sentences. Each is known here by its pattern, so that a person
// reads it in their language; one that is not known stays as it is.

#include "ui/models/words.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QRegularExpression>
#include <vector>

namespace furrow {

namespace {

constexpr const char* kSentences[] = {
    QT_TRANSLATE_NOOP("Evidence", "No attempt was started yet."),
    QT_TRANSLATE_NOOP("Evidence", "The supervisor (process %1) holds the run; its last heartbeat is %2 ago."),
    QT_TRANSLATE_NOOP("Evidence", "%1 of %2 workers alive."),
    QT_TRANSLATE_NOOP("Evidence", "Attempt %1 ended at %2: %3."),
    QT_TRANSLATE_NOOP("Evidence", "A process holds the run and has not written a heartbeat yet."),
    QT_TRANSLATE_NOOP("Evidence", "The supervisor process is gone."),
    QT_TRANSLATE_NOOP("Evidence", "The boot id changed: the computer was restarted."),
    QT_TRANSLATE_NOOP("Evidence", "Attempt %1 has no exit record."),
    QT_TRANSLATE_NOOP("Evidence", "The last heartbeat is of %1."),
    QT_TRANSLATE_NOOP("Evidence", "The supervisor logged at its end: %1"),
    QT_TRANSLATE_NOOP("Evidence", "A person marked the run as finished at %1; until then it was %2."),
    QT_TRANSLATE_NOOP("Evidence", "The folder is looked at from outside (%1), so the run is trained by another computer, whose processes cannot be seen from here."),
    QT_TRANSLATE_NOOP("Evidence", "The run wrote something %1 ago."),
};

struct Pattern {
    const char* sentence;
    QRegularExpression matches;
};

std::vector<Pattern> makePatterns()
{
    static const QRegularExpression kPlace(QStringLiteral("%\\d"));
    std::vector<Pattern> all;
    for (const char* sentence : kSentences) {
        const QStringList parts = QString::fromLatin1(sentence).split(kPlace);
        QStringList escaped;
        for (const QString& part : parts)
            escaped.append(QRegularExpression::escape(part));
        all.push_back({ sentence, QRegularExpression(QLatin1Char('^') + escaped.join(QStringLiteral("(.+?)")) + QLatin1Char('$')) });
    }
    return all;
}

/// A time in the person's zone, the word for a state or the end of an attempt; anything else as it is.
QString valueWords(const QString& value)
{
    const QDateTime time = QDateTime::fromString(value, Qt::ISODate);
    if (time.isValid() && value.endsWith(QLatin1Char('Z')))
        return wallTimeText(time.toMSecsSinceEpoch() * 1'000'000);
    for (const RunState state : { RunState::Stopped, RunState::Interrupted, RunState::Failed }) {
        if (value == QString::fromStdString(toString(state)))
            return stateWord(state).toLower();
    }
    for (const StopReason reason : { StopReason::EpochEnd, StopReason::BlockEnd, StopReason::Steps, StopReason::Tokens, StopReason::Hours, StopReason::Epochs, StopReason::User, StopReason::Error }) {
        const QString name = QString::fromStdString(toString(reason));
        if (value == name || value.startsWith(name + QLatin1String(" ("))) // its detail is what a process said
            return stopReasonSentence(reason) + value.mid(name.size());
    }
    return value;
}

QString evidenceWords(const QString& line)
{
    static const std::vector<Pattern> kPatterns = makePatterns();
    for (const Pattern& pattern : kPatterns) {
        const QRegularExpressionMatch found = pattern.matches.match(line);
        if (!found.hasMatch())
            continue;
        QString words = QCoreApplication::translate("Evidence", pattern.sentence);
        for (int i = 1; i <= found.lastCapturedIndex(); ++i)
            words.replace(QLatin1Char('%') + QString::number(i), valueWords(found.captured(i)));
        return words;
    }
    return line;
}

} // namespace

QString evidenceText(const RunStatus& status, const QString& separator)
{
    QStringList lines;
    for (const Evidence& evidence : status.evidence)
        lines.append(evidenceWords(QString::fromStdString(evidence.text)));
    return lines.join(separator);
}

} // namespace furrow
