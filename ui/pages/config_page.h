#pragma once

#include "ui/models/run_tables.h"

#include <QSortFilterProxyModel>
#include <QWidget>

class QCheckBox;
class QLabel;
class QLineEdit;
class QTableView;

namespace furrow {

class Workbench;

/// Filters the configuration by words and to what differs from the preset.
class ConfigFilter : public QSortFilterProxyModel {
    Q_OBJECT
public:
    explicit ConfigFilter(QObject* parent = nullptr);
    void setWords(const QString& words);
    void setChangedOnly(bool changedOnly);

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    QString words_;
    bool changedOnly_ = false;
};

/// The configuration of the run in schema order, as it is in force and what it began with, with the preset's values,
/// the meaning and what a resume may change.
class ConfigPage : public QWidget {
    Q_OBJECT
public:
    explicit ConfigPage(Workbench& bench, QWidget* parent = nullptr);
    void focusSearch();

Q_SIGNALS:
    /// A new run that begins with this configuration.
    void cloneWanted();

private:
    void take();
    void fill(const RunFile& file, const RunConfig& inForce);
    void fitColumns();

    Workbench& bench_;
    ConfigModel model_;
    ConfigFilter filter_;
    QLineEdit* search_ = nullptr;
    QTableView* table_ = nullptr;
    QLabel* origin_ = nullptr;
    QString shownRun_;
    std::size_t shownAttempts_ = 0;
};

} // namespace furrow
