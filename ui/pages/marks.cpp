#include "ui/pages/marks.h"

#include "ui/models/words.h"
#include "ui/widgets/worker_mark.h"

#include <QPainter>

namespace furrow {

namespace {

constexpr int kSide = 12;

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

} // namespace furrow
