#pragma once

#include <QByteArray>
#include <QString>
#include <vector>

namespace furrow {

/// A layout that the person gave a name: docks and the page of the run.
struct OwnPerspective {
    QString name;
    QByteArray docks;
    int page = 0;
};

/// Kept with the settings of the program; `remember` false keeps them for this session only.
class OwnPerspectives {
public:
    explicit OwnPerspectives(bool remember);
    const std::vector<OwnPerspective>& all() const { return all_; }
    /// Replaces one of the same name.
    void save(const OwnPerspective& perspective);
    void remove(const QString& name);

private:
    void write() const;

    bool remember_;
    std::vector<OwnPerspective> all_;
};

} // namespace furrow
