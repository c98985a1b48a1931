#pragma once

#include <QSortFilterProxyModel>
#include <QStringList>

namespace furrow {

/// The runs that the library shows: every word must occur, "#word" must be a tag, archived ones only when asked for.
/// Runs of a group stand together, groups by name, those without one first; the newest run first inside.
class LibraryFilter : public QSortFilterProxyModel {
    Q_OBJECT
public:
    explicit LibraryFilter(QObject* parent = nullptr);
    void setWords(const QString& words);
    void setArchivedShown(bool shown);
    bool isArchivedShown() const { return archivedShown_; }

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;
    bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;

private:
    QStringList words_;
    QStringList tags_;
    bool archivedShown_ = false;
};

} // namespace furrow
