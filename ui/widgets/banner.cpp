#include "ui/widgets/banner.h"

#include "ui/widgets/state_glyph.h"

#include <QBoxLayout>
#include <QEvent>
#include <QLabel>
#include <QPainter>
#include <QPushButton>

namespace furrow {
namespace {

constexpr int kGlyphRoom = 44;
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
    , sentence_(new QLabel(this))
    , detail_(new QLabel(this))
{
    parts_ = new QBoxLayout(QBoxLayout::TopToBottom, this);
    parts_->setContentsMargins(kGlyphRoom, 8, 12, 8);
    parts_->setSpacing(8);
    auto* words = new QVBoxLayout;
    words->setSpacing(2);
    for (QLabel* label : { sentence_, detail_ }) {
        label->setWordWrap(true);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
        words->addWidget(label);
    }
    parts_->addLayout(words, 1);
    actions_ = new QHBoxLayout;
    actions_->setSpacing(8);
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
    detail_->setVisible(!detail.isEmpty());
    restyle();
    setAccessibleName(sentence);
    setAccessibleDescription(detail);
}

QPushButton* Banner::addButton(const QString& text, bool primary)
{
    auto* button = new QPushButton(text, this);
    button->setProperty("primary", primary);
    actions_->addWidget(button);
    return button;
}

QPushButton* Banner::addLink(const QString& text)
{
    auto* button = new QPushButton(text, this);
    button->setProperty("link", true);
    button->setCursor(Qt::PointingHandCursor);
    actions_->addWidget(button);
    return button;
}

QSize Banner::minimumSizeHint() const
{
    return { kLeastWidth, QFrame::minimumSizeHint().height() };
}

void Banner::resizeEvent(QResizeEvent* event)
{
    QFrame::resizeEvent(event);
    const bool beside = width() >= kGlyphRoom + kLeastWords + actions_->sizeHint().width() + 20;
    parts_->setDirection(beside ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
    actions_->setAlignment(beside ? Qt::AlignVCenter : Qt::AlignLeft);
}

void Banner::restyle()
{
    sentence_->setFont(theme().font(FontRole::Body, detail_->isHidden() ? QFont::Normal : QFont::DemiBold));
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
    const double y = detail_->isHidden() ? sentence_->geometry().center().y() + 1.0 : sentence_->y() + QFontMetricsF(sentence_->font()).height() / 2;
    if (look.icon)
        t.icon(QLatin1String(look.icon), look.color).paint(&p, QRect(14, static_cast<int>(y) - 8, 16, 16));
    else
        drawStateGlyph(p, QRectF(13, y - 9, 18, 18), Glyph::Interrupted);
}

} // namespace furrow
