#include "ui/models/core_words.h"

#include "core/base/sentence.h"
#include "core/tracker/types.h"
#include "ui/models/setting_words.h"
#include "ui/models/words.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QLocale>
#include <QRegularExpression>

#include <algorithm>
#include <cstring>
#include <optional>

namespace furrow {

namespace {

/// A sentence cut at the places of its values.
struct Pattern {
    const char* text = nullptr;
    std::vector<std::string> pieces; ///< what stands before, between and behind the values
    std::size_t letters = 0; ///< of the pieces
};

Pattern patternOf(const char* text)
{
    Pattern pattern { text, { {} } };
    for (const char* at = text; *at != 0; ++at) {
        if (at[0] == '%' && at[1] >= '1' && at[1] <= '9') {
            pattern.pieces.emplace_back();
            ++at;
        } else {
            pattern.pieces.back() += *at;
            ++pattern.letters;
        }
    }
    return pattern;
}

/// Those that say most first: a sentence may stand inside another one.
std::vector<Pattern> makePatterns()
{
    std::vector<Pattern> patterns;
    for (const char* text : coreSentences())
        patterns.push_back(patternOf(text));
    std::stable_sort(
        patterns.begin(), patterns.end(), [](const Pattern& a, const Pattern& b) { return a.letters > b.letters; });
    return patterns;
}

/// The values, when `text` is this sentence. Each is as short as can be, but not empty.
std::optional<std::vector<std::string>> valuesIn(const std::string& text, const Pattern& pattern)
{
    const auto& pieces = pattern.pieces;
    if (pieces.size() == 1)
        return text == pieces[0] ? std::optional(std::vector<std::string> {}) : std::nullopt;
    if (!text.starts_with(pieces.front()) || !text.ends_with(pieces.back())
        || text.size() < pattern.letters + pieces.size() - 1)
        return std::nullopt;
    std::vector<std::string> values;
    std::size_t begin = pieces[0].size();
    const std::size_t last = text.size() - pieces.back().size();
    for (std::size_t i = 1; i < pieces.size(); ++i) {
        const std::size_t end = i + 1 == pieces.size() ? last : text.find(pieces[i], begin + 1);
        if (end == std::string::npos || end <= begin || end > last)
            return std::nullopt;
        values.push_back(text.substr(begin, end - begin));
        begin = end + pieces[i].size();
    }
    return values;
}

/// "1.234.567,5 GiB" for "1,234,567.5 GiB" where a person writes so; "" for what is no number with a comma or point.
QString numberWord(const QString& value)
{
    static const QRegularExpression kNumber(
        QStringLiteral("^(-?(?:\\d+|\\d{1,3}(?:,\\d{3})+))(?:\\.(\\d+))?( (?:B|KiB|MiB|GiB|TiB))?$"));
    const auto number = kNumber.match(value);
    const bool grouped = number.captured(1).contains(QLatin1Char(','));
    if (!number.hasMatch() || (!grouped && number.captured(2).isEmpty()))
        return {};
    QString english = value.left(number.capturedEnd(2) < 0 ? number.capturedEnd(1) : number.capturedEnd(2));
    const int digits = static_cast<int>(number.capturedLength(2));
    english.remove(QLatin1Char(','));
    return (digits == 0 ? countText(english.toLongLong()) : QLocale().toString(english.toDouble(), 'f', digits))
        + number.captured(3);
}

/// The word for a time, a state, a reason, a setting or a number; "" for anything else.
QString singleWord(const QString& value)
{
    const QDateTime time = QDateTime::fromString(value, Qt::ISODate);
    if (time.isValid() && value.endsWith(QLatin1Char('Z')))
        return wallTimeText(time.toMSecsSinceEpoch() * 1'000'000);
    for (const RunState state : { RunState::Stopped, RunState::Interrupted, RunState::Failed }) {
        if (value == QString::fromStdString(toString(state)))
            return stateWord(state).toLower();
    }
    for (const StopReason reason : { StopReason::EpochEnd, StopReason::BlockEnd, StopReason::Steps, StopReason::Tokens,
             StopReason::Hours, StopReason::Epochs, StopReason::User, StopReason::Error, StopReason::Incomplete }) {
        if (value == QString::fromStdString(toString(reason)))
            return stopReasonSentence(reason);
    }
    for (const ChunkState state : { ChunkState::Pending, ChunkState::Free, ChunkState::Leased, ChunkState::Trained,
             ChunkState::Committed, ChunkState::Poisoned, ChunkState::Excluded, ChunkState::Accepted }) {
        if (value == QString::fromStdString(toString(state)))
            return chunkStateWord(state);
    }
    if (const Setting* setting = findSetting(value.toStdString()))
        return settingLabel(*setting);
    return numberWord(value);
}

/// @param behind  what the sentence goes on with: its full stop may be the one of a sentence that stands in it
std::string valueWords(const std::string& value, const std::string& behind)
{
    const QString word = singleWord(QString::fromStdString(value));
    if (!word.isEmpty())
        return word.toStdString();
    const std::string words = coreWords(value).toStdString();
    if (words != value || !behind.starts_with('.'))
        return words;
    const std::string whole = coreWords(value + ".").toStdString();
    return whole == value + "." ? value : whole; // a value that is no sentence stays without the stop
}

} // namespace

QString coreWords(const std::string& english)
{
    static const std::vector<Pattern> patterns = makePatterns();
    for (const Pattern& pattern : patterns) {
        auto values = valuesIn(english, pattern);
        if (!values)
            continue;
        for (std::size_t i = 0; i < values->size(); ++i)
            (*values)[i] = valueWords((*values)[i], pattern.pieces[i + 1]);
        return QString::fromStdString(
            sentence(QCoreApplication::translate("Core", pattern.text).toStdString(), *values));
    }
    for (const char* between : { "\n  ", "\n", ": " }) {
        const auto at = english.find(between);
        if (at != std::string::npos)
            return coreWords(english.substr(0, at)) + QLatin1String(between)
                + coreWords(english.substr(at + std::strlen(between)));
    }
    return QString::fromStdString(english);
}

QString coreWords(const QString& english) { return coreWords(english.toStdString()); }

QStringList coreWords(const std::vector<std::string>& sentences)
{
    QStringList words;
    for (const std::string& one : sentences)
        words.append(coreWords(one));
    return words;
}

} // namespace furrow
