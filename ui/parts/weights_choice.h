#pragma once

#include "ui/widgets/elided_combo.h"

namespace furrow {

class Workbench;

/// Weights to choose: of the run that is shown the newest, however it trains on, or a checkpoint. Follows the run.
class WeightsChoice : public ElidedCombo {
    Q_OBJECT
public:
    enum class Offers { ThisRun, OthersOrNone }; ///< the latter: nothing first, and the newest of other runs last
    explicit WeightsChoice(Workbench& bench, Offers offers = Offers::ThisRun, QWidget* parent = nullptr);

    /// Chooses a checkpoint of the run by the name of its folder, as soon as it is known.
    void choose(const QString& checkpoint);
    bool isNone() const; ///< nothing is chosen
    QString run() const; ///< its folder
    QString checkpoint() const; ///< the name of its folder; empty: the newest
    bool hasCheckpoints() const { return hasCheckpoints_; } ///< of the run that is shown

Q_SIGNALS:
    void filled();

private:
    struct Entry {
        QString text, run, checkpoint, tip;
    };
    QList<Entry> entries() const;
    void fill();

    Workbench& bench_;
    Offers offers_;
    QString wanted_; // to be chosen once it is known
    bool hasCheckpoints_ = false;
};

} // namespace furrow
