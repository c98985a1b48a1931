#pragma once

#include <QComboBox>

namespace furrow {

/// A choice whose words end in an ellipsis where they are cut, and are whole in its tooltip then: the style cuts
/// through a letter.
class ElidedCombo : public QComboBox {
public:
    using QComboBox::QComboBox;
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

private:
    QString shownText() const; ///< of the current entry, as it fits
};

} // namespace furrow
