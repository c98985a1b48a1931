#pragma once

#include <QString>
#include <QWidget>
#include <vector>

namespace furrow {

/// Five numbers of a distribution.
struct BoxRow {
    QString name;
    int worker = 0; ///< whose colour and marker
    double min = 0;
    double lower = 0; ///< quartiles
    double median = 0;
    double upper = 0;
    double max = 0;
};
/// Of finite values; false: there are none.
bool makeBox(std::vector<float> values, BoxRow& row);

/// Box plots below each other on one scale from 0, the median as a number beside each.
class BoxRows : public QWidget {
    Q_OBJECT
public:
    explicit BoxRows(QWidget* parent = nullptr);
    void setRows(std::vector<BoxRow> rows);
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    std::vector<BoxRow> rows_;
};

} // namespace furrow
