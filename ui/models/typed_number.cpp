#include "ui/models/typed_number.h"

#include "ui/models/words.h"

#include <QCoreApplication>
#include <QLocale>
#include <QRegularExpression>
#include <cmath>
#include <optional>

namespace furrow {

namespace {

const QLatin1Char kPoint('.');
const QLatin1Char kComma(',');

/// Sign, digits with their separators, power.
struct Parts {
    QString sign;
    QString body;
    QString power;
};

std::optional<Parts> partsOf(const QString& text)
{
    static const QRegularExpression form(QStringLiteral("^([+-]?)([0-9.,][0-9., ]*?)(?:[eE]([+-]?[0-9]{1,4}))?$"));
    QString plain = text.trimmed();
    plain.replace(QChar(0x2212), QLatin1Char('-'));
    for (const char16_t blank : { u'\u00a0', u'\u2009', u'\u202f' })
        plain.replace(QChar(blank), QLatin1Char(' '));
    const auto match = form.match(plain);
    if (!match.hasMatch())
        return std::nullopt;
    return Parts { match.captured(1) == QLatin1String("-") ? QStringLiteral("-") : QString(), match.captured(2),
        match.captured(3) };
}

/// "1500000.5" of "1.500.000,5" where `group` is '.' and `point` is ','; empty: the body cannot be read so.
QString readAs(const QString& body, QChar group, QChar point)
{
    const auto at = body.indexOf(point);
    QString whole = at < 0 ? body : body.left(at);
    const QString fraction = at < 0 ? QString() : body.mid(at + 1);
    static const QRegularExpression digits(QStringLiteral("^[0-9]*$"));
    if (!digits.match(fraction).hasMatch())
        return {};
    for (const QChar separator : { group, QChar(u' ') }) {
        const QRegularExpression grouped(
            QStringLiteral("^[1-9][0-9]{0,2}(%1[0-9]{3})+$").arg(QRegularExpression::escape(separator)));
        if (grouped.match(whole).hasMatch())
            whole.remove(separator);
    }
    if (!digits.match(whole).hasMatch() || (whole.isEmpty() && fraction.isEmpty()))
        return {};
    if (whole.isEmpty())
        whole = QStringLiteral("0");
    return fraction.isEmpty() ? whole : whole + kPoint + fraction;
}

bool isWholeText(const QString& plain)
{
    constexpr double kMost = 9e15; // as core takes it
    const double value = plain.toDouble();
    return value == std::floor(value) && std::abs(value) <= kMost;
}

QString shown(const QString& plain, bool isWhole)
{
    QLocale locale;
    if (isWhole)
        return countText(static_cast<std::int64_t>(plain.toDouble()));
    locale.setNumberOptions(QLocale::OmitGroupSeparator | QLocale::OmitLeadingZeroInExponent);
    return locale.toString(plain.toDouble(), 'g', 12);
}

QString words(const char* text) { return QCoreApplication::translate("FormField", text); }

} // namespace

TypedNumber typedNumber(const QString& text, bool isWhole)
{
    const auto parts = partsOf(text);
    if (!parts)
        return {};
    const bool commaIsPoint = QLocale().decimalPoint() == QString(kComma);
    const QChar point = commaIsPoint ? kComma : kPoint;
    const QChar group = commaIsPoint ? kPoint : kComma;
    const auto whole = [&](const QString& plain) { return plain.isEmpty() ? plain : parts->sign + plain; };
    const QString here = whole(readAs(parts->body, group, point));
    const QString there = whole(readAs(parts->body, point, group));
    const QString power = parts->power.isEmpty() ? QString() : QLatin1Char('e') + parts->power;
    const bool counts = isWhole && power.isEmpty();
    TypedNumber number;
    const auto mean = [&](const QString& plain) {
        if (!plain.isEmpty() && (!counts || isWholeText(plain)))
            if (const QString one = shown(plain + power, counts); !number.meanings.contains(one))
                number.meanings.append(one);
    };
    if (counts) {
        if (!here.isEmpty() && !parts->body.contains(point))
            return { here, {} };
        mean(there);
        mean(here);
    } else if (here.isEmpty() && commaIsPoint) {
        return { there.isEmpty() ? there : there + power, {} }; // "0.5" is understood everywhere
    } else if (here.isEmpty()) {
        mean(there);
    } else if (commaIsPoint && !there.isEmpty() && there != here && !parts->body.contains(point)) {
        mean(here);
        mean(there);
    } else {
        return { here + power, {} };
    }
    return number;
}

bool NumberRange::has(double value) const
{
    return std::isfinite(value) && value >= least && (most < least || value <= most);
}

QString numberProblem(const QString& label, const QString& typed, const NumberRange& range)
{
    QStringList meant = typedNumber(typed, range.isWhole).meanings;
    meant.removeIf(
        [&range](const QString& one) { return !range.has(typedNumber(one, range.isWhole).plain.toDouble()); });
    if (meant.size() > 1)
        return words(QT_TRANSLATE_NOOP("FormField", "%1: %2 can be read in two ways. Write %3 or %4."))
            .arg(label, typed.trimmed(), meant[0], meant[1]);
    if (!meant.isEmpty() && range.isWhole)
        return words(
            QT_TRANSLATE_NOOP("FormField", "%1 must be a whole number, and %2 is not read as one here. Write %3."))
            .arg(label, typed.trimmed(), meant[0]);
    if (!meant.isEmpty())
        return words(QT_TRANSLATE_NOOP("FormField", "%1 must be a number, and %2 is not one here. Write %3."))
            .arg(label, typed.trimmed(), meant[0]);
    const auto limit = [&range](double value) {
        return range.isWhole ? countText(static_cast<std::int64_t>(value)) : QLocale().toString(value, 'g', 10);
    };
    const QString least = limit(range.least);
    if (range.most < range.least)
        return (range.isWhole ? words(QT_TRANSLATE_NOOP("FormField", "%1 must be a whole number of %2 or more."))
                              : words(QT_TRANSLATE_NOOP("FormField", "%1 must be a number of %2 or more.")))
            .arg(label, least);
    const QString most = limit(range.most);
    return (range.isWhole ? words(QT_TRANSLATE_NOOP("FormField", "%1 must be a whole number from %2 to %3."))
                          : words(QT_TRANSLATE_NOOP("FormField", "%1 must be a number from %2 to %3.")))
        .arg(label, least, most);
}

} // namespace furrow
