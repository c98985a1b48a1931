#pragma once

#include "ui/bridge/sample_reader.h"

#include <QWidget>

class QComboBox;
class QLabel;
class QTextBrowser;

namespace furrow {

class Workbench;

/// The samples of the selected chunk as they are trained: text, or text cut into tokens, with file and row of each.
class ChunkSamplesView : public QWidget {
    Q_OBJECT
public:
    explicit ChunkSamplesView(Workbench& bench, QWidget* parent = nullptr);
    /// Stands above the samples where the name of the chunk is said already; "": the name.
    void setHeading(const QString& heading) { heading_ = heading; }

private:
    void follow();
    void read();
    void show(const ChunkSamplesPtr& samples);
    void render();
    static QString unreadableText(const UnreadableRow& row);
    static QString summaryText(const ChunkSummary& summary);
    QString sampleHtml(const SampleText& sample) const;

    Workbench& bench_;
    SampleReader reader_;
    ChunkSamplesPtr samples_;
    QLabel* title_;
    QLabel* counts_;
    QComboBox* form_;
    QComboBox* order_;
    QTextBrowser* text_;
    qint64 shownChunk_ = 0;
    int shownTrainings_ = 0; ///< of it: the next one brings new losses
    QString heading_;
};

} // namespace furrow
