#pragma once

#include "ui/bridge/data_prober.h"

#include <QFrame>

class QComboBox;
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

Q_SIGNALS:
    void columnChosen(const QString& column); ///< by the person, out of several with text

private:
    void clearRows();
    void showRemarks(const QStringList& remarks);
    void askForColumn(const DataInspection& seen);
    QString headText(const ProbeResult& probe) const;

    QWidget* good_; ///< the data could be read, and there is nothing to say of it
    QWidget* doubtful_;
    QLabel* head_;
    QLabel* note_;
    QLabel* reading_; ///< how the files are read
    QLabel* remarks_; ///< what of the data is left out, repeated or not as it seems
    QComboBox* columns_; ///< asks for the text column where several could be meant
    QGridLayout* rows_;
};

} // namespace furrow
