#pragma once

#include "core/run/status/run_status.h"

#include <QWidget>

class QPainter;

namespace furrow {

/// States as people see them; queued exists only in the console.
enum class Glyph { Running, Paused, Stopping, Stopped, Interrupted, Failed, Finished, Queued, Unknown };

/// A run that was never started waits like a queued one.
inline Glyph glyphOf(RunState state)
{
    switch (state) {
    case RunState::New: return Glyph::Queued;
    case RunState::Running: return Glyph::Running;
    case RunState::Pausing:
    case RunState::Paused: return Glyph::Paused;
    case RunState::Stopped: return Glyph::Stopped;
    case RunState::Stopping: return Glyph::Stopping;
    case RunState::Interrupted: return Glyph::Interrupted;
    case RunState::Failed: return Glyph::Failed;
    case RunState::Finished: return Glyph::Finished;
    case RunState::Unknown: break;
    }
    return Glyph::Unknown;
}

/// Shape and colour of a state (both always together) inside a square; use it in delegates too.
void drawStateGlyph(QPainter& painter, const QRectF& area, Glyph glyph);
/// "Running"; the accessible name of every glyph.
QString glyphWord(Glyph glyph);

/// A state glyph of 14 (or 12, 18) px.
class StateGlyph : public QWidget {
    Q_OBJECT
public:
    explicit StateGlyph(QWidget* parent = nullptr, int side = 14);
    void setGlyph(Glyph glyph);
    Glyph glyph() const { return glyph_; }
    QSize sizeHint() const override { return { side_, side_ }; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    Glyph glyph_ = Glyph::Unknown;
    int side_;
};

} // namespace furrow
