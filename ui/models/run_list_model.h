#pragma once

#include "ui/bridge/attempt_reader.h"
#include "ui/bridge/run_feed.h"

#include <QAbstractItemModel>
#include <map>

namespace furrow {

/// The library: one row for each run, for a delegate that draws glyph, name, subtitle, sparkline and loss; below it,
/// once somebody looks, a row for each of its attempts, the newest first.
class RunListModel : public QAbstractItemModel {
    Q_OBJECT
public:
    enum Role {
        FolderRole = Qt::UserRole + 1, ///< of an attempt: that of its run
        NameRole,
        SubtitleRole,
        StateRole, ///< RunState as int
        LossRole, ///< double
        LossTextRole, ///< "3.438", "" without one
        SparklineRole, ///< QVector<double>
        FilterRole, ///< everything a filter may look for
        TagsRole, ///< QStringList
        GroupRole, ///< "" without one
        ArchivedRole, ///< bool
        AttemptRole, ///< number of an attempt; 0: a run
        StepsTextRole, ///< of an attempt: "12,345 steps"
        ChangesRole, ///< of an attempt: "Workers 4 → 1, Epochs 2 → 3"; "": it changed no setting
    };
    explicit RunListModel(QObject* parent = nullptr);

    /// Rows that only changed their values stay where they are, so selection and scroll position survive.
    void reset(const RunLines& lines);
    const RunLines& lines() const { return lines_; }
    int rowOf(const QString& folder) const; ///< -1: not there
    /// The answer to attemptsWanted.
    void setAttempts(const QString& folder, const AttemptLines& attempts);
    /// Whether the attempts of a run were asked for already.
    bool hasAttempts(const QString& folder) const { return attempts_.contains(folder); }

    QModelIndex index(int row, int column = 0, const QModelIndex& parent = {}) const override;
    QModelIndex parent(const QModelIndex& index) const override;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    bool hasChildren(const QModelIndex& parent = {}) const override;
    bool canFetchMore(const QModelIndex& parent) const override;
    void fetchMore(const QModelIndex& parent) override;
    QVariant data(const QModelIndex& index, int role) const override;

Q_SIGNALS:
    /// Somebody opened a run for the first time, or one that is open has news.
    void attemptsWanted(const QString& folder);

private:
    const RunLine* runAt(const QModelIndex& index) const; ///< null: an attempt, or nothing
    struct Attempts {
        AttemptLines lines; ///< the newest first
        std::int64_t stepsOfRun = 0; ///< when they were read: what the run trained since belongs to the newest
    };
    const Attempts* attemptsAt(const QModelIndex& parent) const; ///< null: not asked for yet
    static std::int64_t stepsOf(const RunLine& line, const Attempts& attempts, const AttemptLine& attempt);
    QVariant attemptData(const RunLine& line, const Attempts& attempts, int row, int role) const;

    RunLines lines_;
    std::map<QString, Attempts> attempts_; // by folder of the run
};

} // namespace furrow
