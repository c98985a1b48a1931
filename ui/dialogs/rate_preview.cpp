#include "ui/dialogs/rate_preview.h"

#include "core/base/process.h"
#include "core/device/placement.h"
#include "ui/models/core_words.h"
#include "ui/parts/page_parts.h"
#include "ui/theme/theme.h"
#include "ui/widgets/elided_combo.h"

#include <QComboBox>
#include <QLabel>
#include <QPainter>
#include <QVBoxLayout>
#include <algorithm>
#include <iterator>

namespace furrow {

/// The rate from where the run stands to its end: as it was planned, and as it will be.
class RateCurve : public QWidget {
public:
    explicit RateCurve(QWidget* parent)
        : QWidget(parent)
    {
        setFixedHeight(64);
    }
    void show(const RateForecast& forecast)
    {
        forecast_ = forecast;
        setVisible(!forecast_.curve.empty());
        update();
    }

protected:
    void paintEvent(QPaintEvent*) override
    {
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.fillRect(rect(), theme().color(Token::Inset));
        double highest = 0;
        for (const auto& point : forecast_.curve)
            highest = std::max({ highest, point.before, point.now });
        if (highest <= 0)
            return;
        if (forecast_.changed)
            draw(painter, &RateForecast::Point::before, highest, QPen(theme().color(Token::Text3), 1, Qt::DashLine));
        draw(painter, &RateForecast::Point::now, highest, QPen(theme().color(Token::Accent), 2));
    }

private:
    void draw(QPainter& painter, double RateForecast::Point::* rate, double highest, const QPen& pen) const
    {
        constexpr double kEdge = 4;
        QPolygonF line;
        const auto last = static_cast<double>(std::max<std::ptrdiff_t>(std::ssize(forecast_.curve) - 1, 1));
        for (std::ptrdiff_t i = 0; i < std::ssize(forecast_.curve); ++i) {
            const double share = forecast_.curve[static_cast<std::size_t>(i)].*rate / highest;
            line.append({ kEdge + (width() - 2 * kEdge) * static_cast<double>(i) / last,
                height() - kEdge - (height() - 2 * kEdge) * share });
        }
        painter.setPen(pen);
        painter.drawPolyline(line);
    }

    RateForecast forecast_;
};

RatePreview::RatePreview(const RateOutlook& outlook, QWidget* parent)
    : QWidget(parent)
    , outlook_(outlook)
    , sentence_(makeLabel({}, TextTone::Secondary, TextSize::Small))
    , curve_(new RateCurve(this))
    , choice_(new ElidedCombo(this))
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(4);
    column->addWidget(makeLabel(tr("Learning rate"), TextTone::Value, TextSize::Body, true));
    sentence_->setWordWrap(true);
    column->addWidget(sentence_);
    column->addWidget(curve_);
    choice_->addItem(tr("As usual: smoothly into a new schedule"), QVariant());
    const std::pair<RateChoice, QString> choices[] = { { RateChoice::Keep, tr("The schedule keeps its length") },
        { RateChoice::Stretch, tr("The new schedule at once") },
        { RateChoice::Restart, tr("A new cycle from here, with a new warm-up") } };
    for (const auto& [choice, words] : choices)
        choice_->addItem(words, static_cast<int>(choice));
    choice_->setAccessibleName(tr("How the learning rate goes on"));
    choice_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    column->addWidget(choice_);
    connect(choice_, &QComboBox::activated, this, [this] {
        refresh();
        Q_EMIT changed();
    });
}

void RatePreview::show(const RunConfig& wanted, double labelsBack)
{
    wanted_ = wanted;
    labelsBack_ = labelsBack;
    refresh();
}

std::optional<RateChoice> RatePreview::choice() const
{
    const QVariant chosen = choice_->currentData();
    return chosen.isValid() ? std::optional(static_cast<RateChoice>(chosen.toInt())) : std::nullopt;
}

void RatePreview::refresh()
{
    const auto placed
        = placeWorkers(wanted_, {}, cpuCount()); // the number is enough: GPUs are told apart by the supervisor
    const std::int64_t workers = placed.ok() ? std::ssize(placed.value()) : std::max<std::int64_t>(wanted_.workers, 1);
    const RateForecast forecast = forecastRate(outlook_, wanted_, workers, choice(), labelsBack_);
    sentence_->setText(coreWords(forecast.text()));
    curve_->show(forecast);
    curve_->setAccessibleName(sentence_->text());
}

} // namespace furrow
