#pragma once

#include "ui/models/alerts.h"

#include <QWidget>
#include <utility>
#include <vector>

class QLabel;
class QVBoxLayout;

namespace furrow {

/// The newest alerts of a run, one line each; hidden while there is none.
class AlertList : public QWidget {
    Q_OBJECT
public:
    explicit AlertList(QWidget* parent = nullptr);
    /// @param alerts  oldest first
    void setAlerts(const std::vector<Alert>& alerts);

private:
    QVBoxLayout* column_;
    std::size_t count_ = 0;
    std::vector<std::pair<std::int64_t, QString>> shown_; ///< times and texts of the rows
};

} // namespace furrow
