#pragma once

#include "ui/bridge/sampling_choices.h"

#include <QObject>
#include <QString>
#include <optional>

class QFormLayout;
class QLabel;
class QWidget;

namespace furrow {

class NumberField;

/// A row of a form; a wide field stands below its name, as wide as the page lets it be.
void addFieldRow(QFormLayout& form, const QString& name, QWidget* field, bool wide = false);

/// The fields of a page that lets a model write.
class SamplingFields : public QObject {
    Q_OBJECT
public:
    /// @param tokensName  what the largest number of tokens is called
    void addTo(QFormLayout& form, const QString& tokensName, const SamplingChoices& initial);
    /// nullopt: a field holds what it cannot be, and a line below the fields says so.
    std::optional<SamplingChoices> choices() const;

Q_SIGNALS:
    void changed();

private:
    void judge();

    NumberField* tokens_ = nullptr;
    NumberField* temperature_ = nullptr;
    NumberField* topK_ = nullptr;
    NumberField* seed_ = nullptr;
    QLabel* problem_ = nullptr;
};

} // namespace furrow
