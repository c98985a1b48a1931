#include "ui/shell/replay_bar.h"

#include "core/base/clock.h"
#include "ui/models/words.h"
#include "ui/models/workbench.h"
#include "ui/parts/page_parts.h"
#include "ui/theme/theme.h"

#include <QAction>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QMouseEvent>
#include <QSlider>
#include <QStyleOptionSlider>
#include <algorithm>

namespace furrow {

namespace {

constexpr int kSteps = 10'000; // of the slider
constexpr int kBeatMs = 40;
constexpr int kLeastSlider = 90;
constexpr int kRoomForClock = 250;
constexpr double kSpeeds[] = { 1, 10, 60, 100, 1000 };

/// A click goes to the moment under the mouse, and a drag goes on from there.
class Scrubber : public QSlider {
public:
    using QSlider::QSlider;

protected:
    void mousePressEvent(QMouseEvent* event) override
    {
        if (event->button() == Qt::LeftButton) {
            QStyleOptionSlider option;
            initStyleOption(&option);
            const QRect handle = style()->subControlRect(QStyle::CC_Slider, &option, QStyle::SC_SliderHandle, this);
            if (!handle.contains(event->position().toPoint())) {
                setSliderPosition(QStyle::sliderValueFromPosition(minimum(), maximum(),
                    static_cast<int>(event->position().x()) - handle.width() / 2, width() - handle.width(),
                    option.upsideDown));
                triggerAction(SliderMove);
            }
        }
        QSlider::mousePressEvent(event);
    }
};

} // namespace

ReplayBar::ReplayBar(Workbench& bench, QAction* live, QAction* play, QWidget* parent)
    : QWidget(parent)
    , bench_(bench)
    , live_(live)
    , play_(play)
    , slider_(new Scrubber(Qt::Horizontal, this))
    , time_(makeLabel({}, TextTone::Secondary, TextSize::Small))
    , speed_(new QComboBox(this))
{
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    setMinimumWidth(180); // a slider that can be used and the speed
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(8, 0, 4, 0);
    row->setSpacing(8);
    slider_->setMinimumWidth(kLeastSlider);
    slider_->setRange(0, kSteps);
    slider_->setValue(kSteps);
    slider_->setPageStep(kSteps / 20);
    slider_->setSingleStep(kSteps / 200);
    slider_->setAccessibleName(tr("Moment of the run"));
    row->addWidget(slider_, 1);
    time_->setFont(codeFont(TextSize::Small));
    time_->setFixedWidth(QFontMetrics(time_->font()).horizontalAdvance(QStringLiteral("00:00:00")) + 2);
    row->addWidget(time_);
    speed_->setAccessibleName(tr("Speed of the replay"));
    for (const double speed : kSpeeds)
        speed_->addItem(QStringLiteral("%1×").arg(speed), speed);
    speed_->setCurrentIndex(2);
    row->addWidget(speed_);
    beat_.setInterval(kBeatMs);
    connect(&beat_, &QTimer::timeout, this, &ReplayBar::advance);
    connect(slider_, &QSlider::actionTriggered, this, [this] { scrub(slider_->sliderPosition()); });
    connect(play_, &QAction::toggled, this, &ReplayBar::setPlaying);
    connect(&bench_.replay(), &Replay::momentChanged, this, &ReplayBar::showMoment);
    connect(&bench_.replay(), &Replay::spanChanged, this, &ReplayBar::showMoment);
    connect(&bench_.watcher(), &RunWatcher::statusRead, this, &ReplayBar::showMoment);
    connect(&bench_.watcher(), &RunWatcher::opened, play_, [this] { play_->setChecked(false); });
    showMoment();
}

// Where the toolbar is full the slider needs the room; the moment is its tooltip then.
void ReplayBar::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    time_->setVisible(event->size().width() >= kRoomForClock);
}

void ReplayBar::scrub(int position)
{
    const Replay& replay = bench_.replay();
    if (replay.begin() == replay.end())
        return;
    if (position >= kSteps) {
        live_->setChecked(true);
        return;
    }
    live_->setChecked(false);
    const double span = static_cast<double>(replay.end() - replay.begin());
    bench_.replay().setMoment(replay.begin() + static_cast<std::int64_t>(span * position / kSteps));
}

void ReplayBar::setPlaying(bool on)
{
    Replay& replay = bench_.replay();
    if (!on || replay.begin() == replay.end()) {
        beat_.stop();
        play_->setChecked(false);
        return;
    }
    live_->setChecked(false);
    if (!replay.moment() || *replay.moment() >= replay.end())
        replay.setMoment(replay.begin());
    sinceBeat_.start();
    beat_.start();
}

void ReplayBar::advance()
{
    Replay& replay = bench_.replay();
    if (!replay.moment()) { // somebody went back to the present
        play_->setChecked(false);
        return;
    }
    const double passed = static_cast<double>(sinceBeat_.restart()) * 1e6 * speed_->currentData().toDouble();
    replay.setMoment(*replay.moment() + static_cast<std::int64_t>(passed));
    if (*replay.moment() >= replay.end())
        play_->setChecked(false);
}

namespace {

/// The time of a run that goes on, by its own clock; 0 of one that does not. While it waits nothing happens, and the
/// present is not when something happened last.
std::int64_t presentNs(Workbench& bench)
{
    const StatusPtr& status = bench.watcher().status();
    return status && isUnderWay(status->state) ? systemClock().wallNs() - status->clockAheadNs : 0;
}

} // namespace

void ReplayBar::showMoment()
{
    const Replay& replay = bench_.replay();
    const bool any = replay.end() > replay.begin();
    setEnabled(any);
    play_->setEnabled(any);
    const std::int64_t shown = replay.moment().value_or(std::max(replay.end(), presentNs(bench_)));
    time_->setText(any ? wallClockText(shown) : QString());
    time_->setToolTip(any ? wallTimeText(shown) : QString());
    slider_->setToolTip(
        any ? tr("%1. Take every view back to a past moment; the run goes on").arg(wallTimeText(shown)) : QString());
    if (slider_->isSliderDown())
        return;
    const double share
        = any ? static_cast<double>(shown - replay.begin()) / static_cast<double>(replay.end() - replay.begin()) : 1;
    slider_->setValue(static_cast<int>(std::min(share, 1.0) * kSteps));
}

} // namespace furrow
