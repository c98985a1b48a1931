// Core says in English sentences with places for values why it thinks that a run is in its state; here they get the language of the person.

#include "ui/models/words.h"

#include <QCoreApplication>
#include <QDateTime>

namespace furrow {

namespace {

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

QString evidenceWords(Evidence evidence)
{
    evidence.sentence = QCoreApplication::translate("Evidence", evidence.sentence.c_str()).toStdString();
    for (std::string& value : evidence.values)
        value = valueWords(QString::fromStdString(value)).toStdString();
    return QString::fromStdString(evidence.text());
}

} // namespace

QString evidenceText(const RunStatus& status, const QString& separator)
{
    QStringList lines;
    for (const Evidence& evidence : status.evidence)
        lines.append(evidenceWords(evidence));
    return lines.join(separator);
}

} // namespace furrow
