#pragma once

#include "core/base/result.h"
#include "ui/models/selection_model.h"

#include <QObject>
#include <QString>
#include <set>

namespace furrow {

/// What a person wants to leave out of later runs, while it is gathered: the text of a quarantine list
/// (core/data/plan/quarantine.h) and what it means. Saved lists lie in <workspace>/quarantine/NAME.txt. Lives on the
/// GUI thread.
class QuarantineDraft : public QObject {
    Q_OBJECT
public:
    explicit QuarantineDraft(QObject* parent = nullptr);

    const QString& text() const { return text_; }
    void setText(const QString& text);
    /// One line each; those that are there already are not named twice. `reason` becomes a comment above them.
    void addChunks(const std::vector<SelectedChunk>& chunks, const QString& reason);
    void addSample(quint64 fingerprint);
    bool has(quint64 fingerprint) const { return samples_.contains(fingerprint); }
    std::size_t chunkCount() const { return chunks_; }
    std::size_t sampleCount() const { return samples_.size(); }
    /// Which line is wrong and why; "": none.
    QString problem() const;

    /// Takes up the first list of the workspace, so that what is added later joins it.
    void setWorkspace(const QString& workspace);
    const QString& name() const { return name_; } ///< of the list that was loaded or saved last; "": none yet
    bool isModified() const { return text_ != savedText_; }
    /// Names of the saved lists, sorted.
    QStringList saved() const;
    QString fileOf(const QString& name) const;
    /// Replaces the draft by a saved list.
    Status load(const QString& name);
    /// Refuses a list with a wrong line and a name that is none.
    Status save(const QString& name);

Q_SIGNALS:
    void changed();

private:
    void addLines(const QStringList& lines, const QString& comment);

    QString workspace_;
    QString name_;
    QString savedText_; // of the list `name_`
    QString text_;
    Message problem_;
    std::size_t chunks_ = 0;
    std::set<quint64> samples_;
};

} // namespace furrow
