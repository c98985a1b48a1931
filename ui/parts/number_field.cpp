#include "ui/parts/number_field.h"

#include "ui/models/words.h"
#include "ui/parts/page_parts.h"

#include <QKeyEvent>
#include <QLocale>
#include <algorithm>

namespace furrow {

NumberField::NumberField(const QString& name, const NumberRange& range, double value, const QString& unit)
    : UnitEdit(unit)
    , name_(name)
    , range_(range)
{
    setAccessibleName(name);
    setValue(value);
    connect(this, &QLineEdit::textChanged, this, &NumberField::judge);
    connect(this, &QLineEdit::editingFinished, this, [this] { // a number gets its grouping when the person leaves
        if (const auto number = this->value())
            setValue(*number);
    });
}

void NumberField::setValue(double value)
{
    QLocale locale;
    if (!range_.isWhole)
        locale.setNumberOptions(QLocale::OmitGroupSeparator | QLocale::OmitLeadingZeroInExponent);
    setText(range_.isWhole ? countText(static_cast<std::int64_t>(value)) : locale.toString(value, 'g', 10));
}

std::optional<double> NumberField::value() const
{
    bool ok = false;
    const double number = typedNumber(text(), range_.isWhole).plain.toDouble(&ok);
    return ok && range_.has(number) ? std::optional(number) : std::nullopt;
}

QString NumberField::problem() const { return value() ? QString() : numberProblem(name_, text(), range_); }

void NumberField::judge()
{
    setInvalid(this, !value());
    Q_EMIT valueChanged();
}

void NumberField::keyPressEvent(QKeyEvent* event)
{
    const auto number = value();
    const int way = event->key() == Qt::Key_Up ? 1 : event->key() == Qt::Key_Down ? -1 : 0;
    if (way == 0 || !number)
        return UnitEdit::keyPressEvent(event);
    const double most = range_.most < range_.least ? *number + step_ : range_.most;
    setValue(std::clamp(*number + way * step_, range_.least, most));
}

} // namespace furrow
