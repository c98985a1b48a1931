#include "ui/widgets/plain_text.h"

#include <QAbstractItemView>
#include <QApplication>
#include <QHelpEvent>
#include <QLabel>
#include <QMessageBox>
#include <QPointer>
#include <QTextDocument>
#include <QToolTip>

namespace furrow {

namespace {

constexpr const char* kOwnHtml = "ownHtml";

/// As it is for QToolTip, which has no switch for plain text.
QString tipText(const QString& text)
{
    return Qt::mightBeRichText(text) ? Qt::convertFromPlainText(text, Qt::WhiteSpaceNormal) : text;
}

/// Shows the tips that Qt would take for HTML; all others go their usual way.
class PlainTips : public QObject {
public:
    using QObject::QObject;

    bool eventFilter(QObject* watched, QEvent* event) override
    {
        if (event->type() != QEvent::ToolTip || !watched->isWidgetType())
            return false;
        auto* widget = static_cast<QWidget*>(watched);
        const auto* help = static_cast<QHelpEvent*>(event);
        const auto* view = qobject_cast<const QAbstractItemView*>(widget->parentWidget());
        const bool inView = view != nullptr && view->viewport() == widget;
        const QString text = inView ? view->indexAt(help->pos()).data(Qt::ToolTipRole).toString() : widget->toolTip();
        if (!Qt::mightBeRichText(text))
            return false;
        showTip(help->globalPos(), text, widget);
        return true;
    }
};

} // namespace

QLabel* plainLabel(const QString& text, QWidget* parent)
{
    auto* label = new QLabel(parent);
    makePlain(*label);
    label->setText(text); // after the format: an image would be loaded before it
    return label;
}

void makePlain(QLabel& label) { label.setTextFormat(Qt::PlainText); }

void makeRich(QLabel& label)
{
    label.setProperty(kOwnHtml, true);
    label.setTextFormat(Qt::RichText);
}

bool isMadeRich(const QLabel& label) { return label.property(kOwnHtml).toBool(); }

QMessageBox* makeBox(QWidget* parent, const QString& title, const QString& text, const QString& more)
{
    constexpr int kWidth = 440; // enough for sentences; by itself a box is as narrow as its title
    auto* box = new QMessageBox(parent);
    box->setWindowTitle(title);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->setInformativeText(QStringLiteral(" ")); // makes its label
    for (auto* label : box->findChildren<QLabel*>())
        makePlain(*label);
    box->setText(text);
    box->setInformativeText(more);
    box->findChild<QLabel*>(QStringLiteral("qt_msgbox_label"))
        ->setMinimumWidth(kWidth); // its layout is made anew for each text and button
    return box;
}

void showTip(const QPoint& globalPlace, const QString& text, QWidget* of)
{
    QToolTip::showText(globalPlace, tipText(text), of);
}

void keepTipsPlain()
{
    static QPointer<PlainTips> tips;
    if (tips != nullptr)
        return;
    tips = new PlainTips(qApp);
    qApp->installEventFilter(tips);
}

QString notificationText(QString text)
{
    return text.replace(QLatin1Char('<'), QChar(0x2039)).replace(QLatin1Char('>'), QChar(0x203A)); // ‹ and ›
}

} // namespace furrow
