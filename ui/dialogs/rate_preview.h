#pragma once

#include "core/run/start/rate_outlook.h"

#include <QWidget>
#include <optional>

class QComboBox;
class QLabel;

namespace furrow {

class RateCurve;

/// How the learning rate goes on after a resume: a sentence, a small curve of before and after, and the choice between
/// the ways.
class RatePreview : public QWidget {
    Q_OBJECT
public:
    explicit RatePreview(const RateOutlook& outlook, QWidget* parent = nullptr);
    /// @param labelsBack  that are taken back before training goes on
    void show(const RunConfig& wanted, double labelsBack);
    /// What a person chose; nothing: what is usual.
    std::optional<RateChoice> choice() const;

Q_SIGNALS:
    void changed();

private:
    void refresh();

    RateOutlook outlook_;
    RunConfig wanted_;
    double labelsBack_ = 0;
    QLabel* sentence_;
    RateCurve* curve_;
    QComboBox* choice_;
};

} // namespace furrow
