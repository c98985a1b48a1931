#include "ui/pages/alert_list.h"

#include "ui/models/words.h"
#include "ui/parts/marks.h"
#include "ui/parts/page_parts.h"
#include "ui/theme/theme.h"

#include <QLabel>
#include <QVBoxLayout>
#include <algorithm>

namespace furrow {

namespace {

constexpr std::size_t kMost = 3;

QWidget* makeRow(const Alert& alert)
{
    auto* row = new QWidget;
    auto* line = new QHBoxLayout(row);
    line->setContentsMargins(0, 0, 0, 0);
    line->setSpacing(8);
    const bool good = alert.kind == AlertKind::Finished;
    line->addWidget(
        new IconMark(good ? QStringLiteral("check") : QStringLiteral("warning"), good ? Token::Ok : Token::Warn));
    line->addWidget(makeLabel(wallTimeText(alert.wallNs), TextTone::Hint, TextSize::Small));
    auto* text = new ElidedLabel(TextTone::Value, TextSize::Small);
    text->setText(alert.text);
    text->setToolTip(alert.text);
    line->addWidget(text, 1);
    return row;
}

} // namespace

AlertList::AlertList(QWidget* parent)
    : QWidget(parent)
    , column_(new QVBoxLayout(this))
{
    column_->setContentsMargins(0, 0, 0, 0);
    column_->setSpacing(4);
    hide();
}

void AlertList::setAlerts(const std::vector<Alert>& alerts)
{
    setVisible(!alerts.empty());
    const std::size_t rows = std::min(alerts.size(), kMost);
    std::vector<std::pair<std::int64_t, QString>> wanted;
    for (std::size_t i = 0; i < rows; ++i) {
        const Alert& alert = alerts[alerts.size() - 1 - i];
        wanted.emplace_back(alert.wallNs, alert.text);
    }
    if (alerts.size() == count_ && wanted == shown_) // one may have been withdrawn for another
        return;
    count_ = alerts.size();
    shown_ = std::move(wanted);
    while (QLayoutItem* item = column_->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    for (std::size_t i = 0; i < rows; ++i)
        column_->addWidget(makeRow(alerts[alerts.size() - 1 - i]));
    if (alerts.size() > rows)
        column_->addWidget(
            makeLabel(tr("%n more; J and K step through them", nullptr, static_cast<int>(alerts.size() - rows)),
                TextTone::Hint, TextSize::Small));
}

} // namespace furrow
