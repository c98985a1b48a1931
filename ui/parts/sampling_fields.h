#pragma once

#include "ui/bridge/sampling_choices.h"

#include <QString>

class QDoubleSpinBox;
class QFormLayout;
class QSpinBox;
class QWidget;

namespace furrow {

/// A row of a form; a wide field stands below its name, as wide as the page lets it be.
void addFieldRow(QFormLayout& form, const QString& name, QWidget* field, bool wide = false);

/// The fields of a page that lets a model write.
class SamplingFields {
public:
    /// @param tokensName  what the largest number of tokens is called
    void addTo(QFormLayout& form, const QString& tokensName, const SamplingChoices& initial);
    SamplingChoices choices() const;

private:
    QSpinBox* tokens_ = nullptr;
    QDoubleSpinBox* temperature_ = nullptr;
    QSpinBox* topK_ = nullptr;
    QSpinBox* seed_ = nullptr;
};

} // namespace furrow
