#include "ui/widgets/wheel_guard.h"

#include <QAbstractSpinBox>
#include <QApplication>
#include <QComboBox>
#include <QEvent>
#include <QPointer>

namespace furrow {

namespace {

class WheelGuard : public QObject {
public:
    using QObject::QObject;
    bool eventFilter(QObject* watched, QEvent* event) override
    {
        if (event->type() != QEvent::Wheel && event->type() != QEvent::Polish)
            return false;
        auto* field = qobject_cast<QWidget*>(watched);
        if (qobject_cast<QComboBox*>(field) == nullptr && qobject_cast<QAbstractSpinBox*>(field) == nullptr)
            return false;
        if (event->type() == QEvent::Polish) { // the wheel would give it the focus first
            if (field->focusPolicy() == Qt::WheelFocus)
                field->setFocusPolicy(Qt::StrongFocus);
            return false;
        }
        if (field->hasFocus())
            return false;
        event->ignore(); // so it goes to the page
        return true;
    }
};

} // namespace

void guardWheel()
{
    static QPointer<WheelGuard> guard;
    if (guard != nullptr)
        return;
    guard = new WheelGuard(qApp);
    qApp->installEventFilter(guard);
}

} // namespace furrow
