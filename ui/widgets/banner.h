#pragma once

#include "ui/theme/theme.h"

#include <QFrame>
#include <vector>

class QBoxLayout;
class QLabel;
class QPushButton;

namespace furrow {

enum class BannerKind { Ok, Warn, Error, Interrupted, Info };

/// A notice with a glyph, a bold sentence, the evidence below it, and what can be done at the right.
class Banner : public QFrame {
    Q_OBJECT
public:
    explicit Banner(BannerKind kind, QWidget* parent = nullptr);
    void setKind(BannerKind kind);
    /// @param detail  may be empty: then one line
    void setMessage(const QString& sentence, const QString& detail = {});
    QPushButton* addButton(const QString& text, bool primary = false);
    QPushButton* addLink(const QString& text);
    QSize minimumSizeHint() const override; ///< narrow: then the buttons stand below the words

protected:
    void paintEvent(QPaintEvent* event) override;
    void changeEvent(QEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    bool event(QEvent* event) override;

private:
    void restyle();
    void layOut();

    BannerKind kind_;
    QLabel* sentence_;
    QLabel* detail_;
    QBoxLayout* parts_; ///< words, actions
    QBoxLayout* actions_; ///< rows of buttons
    std::vector<QPushButton*> buttons_; ///< in the order in which they came
    std::vector<int> rows_; ///< of each button
};

} // namespace furrow
