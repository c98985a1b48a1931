#include "ui/widgets/banner.h"

#include "ui/widgets/plain_text.h"
#include "ui/widgets/state_glyph.h"

#include <QBoxLayout>
#include <QEvent>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <utility>

namespace furrow {
namespace {

constexpr int kGlyphRoom = 44;
constexpr int kRightEdge = 12;
constexpr int kGap = 8; // between buttons
constexpr int kLeastWords = 380; // beside the buttons; with less the words would be a column of their own
constexpr int kLeastWidth = 240;

struct Look {
    Token color;
    Token ground;
    const char* icon; ///< null: the glyph of interrupted
};

Look lookOf(BannerKind kind)
{
    switch (kind) {
    case BannerKind::Ok: return { Token::Ok, Token::OkGround, "check" };
    case BannerKind::Warn: return { Token::Warn, Token::WarnGround, "warning" };
    case BannerKind::Error: return { Token::Error, Token::ErrorGround, "warning" };
    case BannerKind::Interrupted: return { Token::Interrupted, Token::InterruptedGround, nullptr };
    case BannerKind::Info: break;
    }
    return { Token::Info, Token::InfoGround, "info" };
}

} // namespace

Banner::Banner(BannerKind kind, QWidget* parent)
    : QFrame(parent)
    , kind_(kind)
    , sentence_(plainLabel({}, this))
    , detail_(plainLabel({}, this))
{
    parts_ = new QBoxLayout(QBoxLayout::TopToBottom, this);
    parts_->setContentsMargins(kGlyphRoom, 8, kRightEdge, 8);
    parts_->setSpacing(8);
    auto* words = new QVBoxLayout;
    words->setSpacing(2);
    for (QLabel* label : { sentence_, detail_ }) {
        label->setWordWrap(true);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
        words->addWidget(label);
    }
    parts_->addLayout(words, 1);
    actions_ = new QVBoxLayout;
    actions_->setSpacing(kGap);
    actions_->setAlignment(Qt::AlignVCenter);
    parts_->addLayout(actions_);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    detail_->hide();
    restyle();
}

void Banner::setKind(BannerKind kind)
{
    kind_ = kind;
    update();
}

void Banner::setMessage(const QString& sentence, const QString& detail)
{
    sentence_->setText(sentence);
    detail_->setText(detail);
    setToolTip(detail);
    restyle();
    layOut();
    setAccessibleName(sentence);
    setAccessibleDescription(detail);
}

QPushButton* Banner::addButton(const QString& text, bool primary)
{
    auto* button = new QPushButton(text, this);
    button->setProperty("primary", primary);
    buttons_.push_back(button);
    return button;
}

QPushButton* Banner::addLink(const QString& text)
{
    auto* button = new QPushButton(text, this);
    button->setProperty("link", true);
    button->setCursor(Qt::PointingHandCursor);
    buttons_.push_back(button);
    layOut();
    return button;
}

QSize Banner::minimumSizeHint() const { return { kLeastWidth, QFrame::minimumSizeHint().height() }; }

void Banner::showEvent(QShowEvent* event)
{
    QFrame::showEvent(event);
    layOut();
}

void Banner::resizeEvent(QResizeEvent* event)
{
    QFrame::resizeEvent(event);
    layOut();
}

bool Banner::event(QEvent* event)
{
    if (event->type() == QEvent::LayoutRequest) // a button came, went or has other words
        layOut();
    return QFrame::event(event);
}

// Beside the words where both have room, else below them in as many rows as the buttons need.
void Banner::layOut()
{
    if (!isVisible())
        return; // its width means nothing yet, and rows for it would make the window higher
    int all = 0;
    for (const QPushButton* button : buttons_)
        all += button->isHidden() ? 0 : button->sizeHint().width() + kGap;
    const bool beside = width() >= kGlyphRoom + kLeastWords + all + kRightEdge;
    parts_->setDirection(beside ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
    const int room = beside ? all : width() - kGlyphRoom - kRightEdge + kGap;
    std::vector<int> rows;
    int row = 0;
    int used = 0;
    for (const QPushButton* button : buttons_) {
        const int wide = button->isHidden() ? 0 : button->sizeHint().width() + kGap;
        if (used > 0 && used + wide > room) {
            ++row;
            used = 0;
        }
        used += wide;
        rows.push_back(row);
    }
    detail_->setVisible(row == 0
        && !detail_->text()
            .isEmpty()); // two rows of buttons leave it to the tooltip: a small window has no more height
    if (rows == rows_)
        return;
    rows_ = std::move(rows);
    while (QLayoutItem* line = actions_->takeAt(0))
        delete line;
    for (std::size_t i = 0; i < buttons_.size(); ++i) {
        if (rows_[i] == actions_->count()) {
            auto* line = new QHBoxLayout;
            line->setSpacing(kGap);
            line->addStretch();
            actions_->addLayout(line);
        }
        auto* line = static_cast<QHBoxLayout*>(actions_->itemAt(rows_[i])->layout());
        line->insertWidget(line->count() - 1, buttons_[i]);
    }
}

void Banner::restyle()
{
    sentence_->setFont(theme().font(FontRole::Body, detail_->text().isEmpty() ? QFont::Normal : QFont::DemiBold));
    detail_->setFont(theme().font(FontRole::Small));
}

void Banner::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::PaletteChange)
        restyle();
    QFrame::changeEvent(event);
}

void Banner::paintEvent(QPaintEvent*)
{
    const Look look = lookOf(kind_);
    const Theme& t = theme();
    QPainter p(this);
    p.setPen(QPen(t.color(look.color), 1));
    p.setBrush(t.color(look.ground));
    p.drawRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5));
    // Beside the sentence, not in the middle of a tall banner.
    const double y = detail_->isHidden() ? sentence_->geometry().center().y() + 1.0
                                         : sentence_->y() + QFontMetricsF(sentence_->font()).height() / 2;
    if (look.icon)
        t.icon(QLatin1String(look.icon), look.color).paint(&p, QRect(14, static_cast<int>(y) - 8, 16, 16));
    else
        drawStateGlyph(p, QRectF(13, y - 9, 18, 18), Glyph::Interrupted);
}

} // namespace furrow
