#pragma once

#include "core/tracker/types.h"

#include <QObject>
#include <QString>
#include <optional>
#include <vector>

namespace furrow {

/// A chunk as views name it.
struct SelectedChunk {
    ChunkId id;
    std::int64_t block = 0;
    int column = 0;
    bool operator==(const SelectedChunk&) const = default;
};

/// A half-open stretch of wall time (ns) or of steps.
struct SelectedRange {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    bool operator==(const SelectedRange&) const = default;
};

/// What the person looks at: the one selection that every view reads and writes.
struct Selection {
    QString run; ///< folder
    std::optional<std::int64_t> attempt;
    std::optional<int> worker;
    std::vector<SelectedChunk> chunks; ///< the first one is the current one
    std::optional<SelectedRange> time;
    std::optional<SelectedRange> steps;
    bool operator==(const Selection&) const = default;
};

/// Holds the selection and tells of each change once. Lives on the GUI thread.
class SelectionModel : public QObject {
    Q_OBJECT
public:
    explicit SelectionModel(QObject* parent = nullptr);

    const Selection& selection() const { return selection_; }
    /// Another run clears everything else.
    void setRun(const QString& folder);
    void setAttempt(std::optional<std::int64_t> attempt);
    void setWorker(std::optional<int> worker);
    void setChunks(std::vector<SelectedChunk> chunks);
    void setTime(std::optional<SelectedRange> time);
    void setSteps(std::optional<SelectedRange> steps);
    void clear(); ///< everything but the run

Q_SIGNALS:
    void runChanged(const QString& folder);
    /// Anything changed, the run included.
    void changed();

private:
    template <typename T> void set(T Selection::* field, T value);

    Selection selection_;
};

} // namespace furrow
