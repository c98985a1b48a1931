#include "ui/models/core_words.h"

#include "core/base/format.h"
#include "core/config/option_term.h"
#include "core/run/status/run_status.h"
#include "ui/models/run_words.h"
#include "ui/models/setting_words.h"
#include "ui/models/words.h"

#include <QCoreApplication>
#include <QLocale>

#include <cmath>

namespace furrow {

namespace {

QString translated(std::string_view sentence)
{
    return QCoreApplication::translate("Core", std::string(sentence).c_str());
}

/// The member of an enum that runs from 0 to `last` whose name this is, in the words of `wordOf`.
template <typename Enum, typename WordOf> QString wordOfName(const std::string& name, Enum last, const WordOf& wordOf)
{
    for (int value = 0; value <= static_cast<int>(last); ++value)
        if (name == toString(static_cast<Enum>(value)))
            return wordOf(static_cast<Enum>(value));
    return QString::fromStdString(name);
}

/// A field and what to choose in it, in quotes: “Changed or damaged files: leave out”.
QString optionWord(const OptionParts& option)
{
    const Setting* setting = findSetting(option.key);
    if (setting == nullptr)
        return QString::fromStdString(option.key);
    const QString label = settingLabel(*setting);
    return QCoreApplication::translate("Words", "“%1”")
        .arg(option.value.empty() ? label : QStringLiteral("%1: %2").arg(label, settingChoice(*setting, option.value)));
}

QString termWord(const Term& term)
{
    switch (term.set) {
    case TermSet::Setting:
        if (const auto option = optionParts(term.name); !option.key.empty())
            return optionWord(option);
        if (const Setting* setting = findSetting(term.name))
            return settingLabel(*setting);
        break;
    case TermSet::RunState:
        return wordOfName(term.name, RunState::Unknown, [](RunState state) { return stateWord(state).toLower(); });
    case TermSet::ChunkState:
        return wordOfName(term.name, ChunkState::Accepted, [](ChunkState state) { return chunkStateWord(state); });
    case TermSet::StopReason: return wordOfName(term.name, StopReason::Privacy, stopReasonSentence);
    }
    return QString::fromStdString(term.name);
}

/// What stands in a place of a sentence.
struct WordsOf {
    QString operator()(const std::string& name) const { return QString::fromStdString(name); }
    QString operator()(const Message& message) const { return coreWords(message); }
    QString operator()(Count count) const { return countText(count.value); }
    QString operator()(Real real) const
    {
        return std::isfinite(real.value) ? QLocale().toString(real.value, 'f', real.digits)
                                         : QString::fromStdString(formatNumber(real.value, real.digits));
    }
    QString operator()(Bytes bytes) const { return bytesText(bytes.value); }
    QString operator()(WallTime time) const { return wallTimeText(time.ns); }
    QString operator()(const Term& term) const { return termWord(term); }
};

} // namespace

QString coreWords(const Message& message)
{
    if (message.isPlain())
        return message.empty() ? QString() : translated(message.text());
    std::vector<std::string> values;
    for (const Argument& one : message.arguments())
        values.push_back(std::visit(WordsOf(), one.value).toStdString());
    if (!message.id().empty())
        return QString::fromStdString(filled(translated(message.id()).toStdString(), values));
    QString words; // parts that follow one another
    for (const std::string& value : values)
        words += QString::fromStdString(value);
    return words;
}

QStringList coreWords(const std::vector<Message>& messages)
{
    QStringList words;
    for (const Message& one : messages)
        words.append(coreWords(one));
    return words;
}

} // namespace furrow
