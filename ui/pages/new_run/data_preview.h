#pragma once

#include "ui/bridge/data_prober.h"

#include <QFrame>

class QGridLayout;
class QLabel;

namespace furrow {

/// What the data looks like to the model: a head with counts, and the first rows as text and as tokens.
class DataPreview : public QFrame {
    Q_OBJECT
public:
    explicit DataPreview(QWidget* parent = nullptr);
    void setWaiting();
    void setProbe(const ProbePtr& probe);
    void clear();

private:
    void clearRows();
    QString headText(const ProbeResult& probe) const;

    QWidget* good_; ///< the data could be read
    QLabel* head_;
    QLabel* note_;
    QGridLayout* rows_;
};

} // namespace furrow
