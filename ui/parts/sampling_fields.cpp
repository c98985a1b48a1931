#include "ui/parts/sampling_fields.h"

#include "ui/parts/page_parts.h"

#include <QCoreApplication>
#include <QDoubleSpinBox>
#include <QFormLayout>

namespace furrow {

namespace {

QSpinBox* numberField(int least, int most, int value)
{
    auto* field = new QSpinBox;
    field->setRange(least, most);
    field->setValue(value);
    return field;
}

QString words(const char* text) { return QCoreApplication::translate("SamplingFields", text); }

} // namespace

void addFieldRow(QFormLayout& form, const QString& name, QWidget* field, bool wide)
{
    field->setAccessibleName(name);
    QLabel* label = makeLabel(name, TextTone::Secondary, TextSize::Small);
    if (wide) {
        form.addRow(label);
        form.addRow(field);
    } else {
        label->setWordWrap(true);
        form.addRow(label, field);
    }
}

void SamplingFields::addTo(QFormLayout& form, const QString& tokensName, const SamplingChoices& initial)
{
    tokens_ = numberField(1, 100'000, initial.tokens);
    temperature_ = new QDoubleSpinBox;
    temperature_->setRange(0, 5);
    temperature_->setSingleStep(0.1);
    temperature_->setValue(initial.temperature);
    temperature_->setToolTip(words(
        QT_TRANSLATE_NOOP("SamplingFields", "0 always takes the likeliest token; above 1 the text becomes wilder")));
    topK_ = numberField(0, 100'000, initial.topK);
    topK_->setSpecialValueText(words(QT_TRANSLATE_NOOP("SamplingFields", "all")));
    seed_ = numberField(0, 1 << 30, initial.seed);
    addFieldRow(form, tokensName, tokens_);
    addFieldRow(form, words(QT_TRANSLATE_NOOP("SamplingFields", "Temperature")), temperature_);
    addFieldRow(form, words(QT_TRANSLATE_NOOP("SamplingFields", "Among the likeliest (top-k)")), topK_);
    addFieldRow(form, words(QT_TRANSLATE_NOOP("SamplingFields", "Seed")), seed_);
}

SamplingChoices SamplingFields::choices() const
{
    return { tokens_->value(), temperature_->value(), topK_->value(), seed_->value() };
}

} // namespace furrow
