#include "ui/parts/marks.h"

#include "ui/models/words.h"
#include "ui/widgets/worker_mark.h"

#include <QPainter>
#include <utility>

namespace furrow {

namespace {

constexpr int kSide = 12;
constexpr int kIconSide = 14;

} // namespace

WorkerMark::WorkerMark(int worker, QWidget* parent)
    : QWidget(parent)
    , worker_(worker)
{
    setFixedSize(kSide, kSide);
    setAccessibleName(workerName(worker));
}

void WorkerMark::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    drawWorkerMarker(painter, QRectF(rect()).center(), worker_);
}

IconMark::IconMark(QString icon, Token colour, QWidget* parent)
    : QWidget(parent)
    , icon_(std::move(icon))
    , colour_(colour)
{
    setFixedSize(kIconSide, kIconSide);
}

void IconMark::paintEvent(QPaintEvent*)
{
    QPainter painter(this);
    theme().icon(icon_, colour_).paint(&painter, rect());
}

} // namespace furrow
