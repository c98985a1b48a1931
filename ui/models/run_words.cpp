#include "ui/models/run_words.h"

#include "core/run/status/data_words.h"
#include "core/run/status/end_words.h"
#include "ui/models/core_words.h"

#include <QCoreApplication>
#include <algorithm>

namespace furrow {

QString endReasonSentence(StopReason reason, const Message& detail) { return coreWords(endReason(reason, detail)); }

QString activeTimeHelp()
{
    return QCoreApplication::translate("Words",
        "Of all attempts, while a worker lived: without pauses, and without waits for data that cannot be reached. Hours to train for and tokens per second go by it.");
}

QString trainedSoFarHelp()
{
    return QCoreApplication::translate("Words",
        "In checkpoints and in the weights of living workers, with the chunks under way. What went with its weights is not among them.");
}

QString repeatsText(const RunStatus& status)
{
    const std::int64_t repeats = rowsKnown(status.epochs, &RowCounts::duplicates);
    const int count = static_cast<int>(repeats); // lupdate does not read past a cast
    return repeats == 0
        ? QString()
        : QCoreApplication::translate("Words", "%n sample(s) left out as repeats of text before them.", nullptr, count);
}

QString dataText(const RunStatus& status)
{
    QStringList said = coreWords(dataInWords(status));
    if (const QString repeats = repeatsText(status); !repeats.isEmpty())
        said.append(repeats);
    return said.join(QLatin1Char(' '));
}

} // namespace furrow
