#include "ui/parts/sampling_fields.h"

#include "ui/parts/number_field.h"
#include "ui/parts/page_parts.h"

#include <QCoreApplication>
#include <QFormLayout>

namespace furrow {

namespace {

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
    const auto add = [&](const QString& name, const NumberRange& range, double value) {
        auto* field = new NumberField(name, range, value);
        addFieldRow(form, name, field);
        connect(field, &NumberField::valueChanged, this, &SamplingFields::judge);
        return field;
    };
    tokens_ = add(tokensName, { .isWhole = true, .least = 1, .most = 100'000 }, initial.tokens);
    temperature_ = add(
        words(QT_TRANSLATE_NOOP("SamplingFields", "Temperature")), { .least = 0, .most = 5 }, initial.temperature);
    temperature_->setStep(0.1);
    temperature_->setToolTip(words(
        QT_TRANSLATE_NOOP("SamplingFields", "0 always takes the likeliest token; above 1 the text becomes wilder")));
    topK_ = add(words(QT_TRANSLATE_NOOP("SamplingFields", "Among the likeliest (top-k)")),
        { .isWhole = true, .least = 0, .most = 100'000 }, initial.topK);
    topK_->setZeroMeaning(words(QT_TRANSLATE_NOOP("SamplingFields", "all")));
    seed_ = add(words(QT_TRANSLATE_NOOP("SamplingFields", "Seed")), { .isWhole = true, .least = 0, .most = 1 << 30 },
        initial.seed);
    problem_ = makeLabel({}, TextTone::Error, TextSize::Small);
    problem_->setWordWrap(true);
    problem_->hide();
    form.addRow(problem_);
}

void SamplingFields::judge()
{
    QStringList wrong;
    for (const NumberField* field : { tokens_, temperature_, topK_, seed_ })
        if (field != nullptr && !field->value())
            wrong.append(field->problem());
    problem_->setText(wrong.join(QLatin1Char('\n')));
    problem_->setVisible(!wrong.isEmpty());
    Q_EMIT changed();
}

std::optional<SamplingChoices> SamplingFields::choices() const
{
    const auto tokens = tokens_->value(), temperature = temperature_->value(), topK = topK_->value(),
               seed = seed_->value();
    if (!tokens || !temperature || !topK || !seed)
        return std::nullopt;
    return SamplingChoices { static_cast<int>(*tokens), *temperature, static_cast<int>(*topK),
        static_cast<int>(*seed) };
}

} // namespace furrow
