#pragma once

#include "ui/models/typed_number.h"
#include "ui/parts/form_field.h"

#include <optional>

namespace furrow {

/// A field for one number, in the language of the person. It never changes what was typed: what is not a number of its
/// range is marked, and problem() says why. Arrow keys step.
class NumberField : public UnitEdit {
    Q_OBJECT
public:
    /// @param name  what it is called, also in the sentence about what is wrong
    NumberField(const QString& name, const NumberRange& range, double value, const QString& unit = {});

    void setValue(double value);
    void setStep(double step) { step_ = step; }
    /// What is typed; nullopt: it is not a number of the range.
    std::optional<double> value() const;
    /// Empty: nothing is wrong.
    QString problem() const;

Q_SIGNALS:
    void valueChanged();

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    void judge();

    QString name_;
    NumberRange range_;
    double step_ = 1;
};

} // namespace furrow
