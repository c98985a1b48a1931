#pragma once

#include "core/run/status/run_status.h"

#include <QWidget>
#include <optional>
#include <vector>

class QLabel;
class QPushButton;

namespace furrow {

class StateGlyph;

/// The line above the meters of an epoch: its number and the state of the run with the evidence for it, and when the
/// epoch is likely to end.
class EpochHead : public QWidget {
    Q_OBJECT
public:
    explicit EpochHead(QWidget* parent = nullptr);
    /// @param claims  of the run, oldest first: the pace of the newest ones tells the end of the epoch
    /// @param moment  that is replayed [ns since 1970]: the pace of then, and the end counted from there; absent: the
    /// present
    /// @param active  when the run was: pauses and waits for data say nothing of the pace
    void setStatus(const RunStatus& status, const std::vector<ClaimRow>& claims,
        std::optional<std::int64_t> moment = {}, const std::vector<ActiveStretch>& active = {});
    void clear(); ///< it is being read
    void setUnreadable(); ///< and why stands above it
    /// The only one here that takes the focus, for the order of tabs.
    QPushButton* whyButton() const { return why_; }

Q_SIGNALS:
    void whyWanted();

private:
    StateGlyph* mark_;
    QLabel* title_;
    QLabel* truth_;
    QPushButton* why_;
    QLabel* ends_;
};

} // namespace furrow
