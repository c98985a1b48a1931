// Installing libtorch from the console: furrowctl, a process, does it.
#include "ui/models/workbench.h"
#include "ui/pages/new_run/estimate_panel.h"
#include "ui/pages/torch_dialog.h"

#include <QFile>
#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>

using namespace furrow;

namespace {

constexpr int kPatienceMs = 60'000;

QPushButton* buttonOf(const QWidget& widget, const QString& text)
{
    const auto buttons = widget.findChildren<QPushButton*>();
    const auto found
        = std::find_if(buttons.begin(), buttons.end(), [&](const auto* button) { return button->text() == text; });
    return found == buttons.end() ? nullptr : *found;
}

bool says(const QWidget& widget, const QString& words)
{
    const auto labels = widget.findChildren<QLabel*>();
    return std::any_of(labels.begin(), labels.end(), [&](const auto* label) { return label->text().contains(words); });
}

} // namespace

class TestTorchDialog : public QObject {
    Q_OBJECT

    QTemporaryDir home_;

private Q_SLOTS:
    void initTestCase()
    {
        qputenv("XDG_DATA_HOME", home_.path().toUtf8());
        qputenv("PIP_CONFIG_FILE", "/dev/null");
        qputenv("PIP_NO_INDEX", "1");
        qunsetenv("PIP_FIND_LINKS");
    }

    void anInstallationThatFailsIsSaidAndCanBeTriedAgain()
    {
        TorchDialog dialog;
        dialog.show();
        QSignalSpy ready(&dialog, &TorchDialog::ready);
        auto* install = buttonOf(dialog, QStringLiteral("Install"));
        QVERIFY(install != nullptr);
        install->click();
        QVERIFY(!install->isEnabled());
        QTRY_VERIFY_WITH_TIMEOUT(install->isEnabled(), kPatienceMs);
        QVERIFY(says(dialog, QStringLiteral("No wheel of torch")));
        QVERIFY(ready.isEmpty());
    }

    void takesTheOneOfTheActiveEnvironment()
    {
        qputenv("VIRTUAL_ENV", FURROW_TORCH_ENVIRONMENT);
        TorchDialog dialog;
        dialog.show();
        QSignalSpy ready(&dialog, &TorchDialog::ready);
        buttonOf(dialog, QStringLiteral("Look on this computer"))->click();
        QTRY_COMPARE_WITH_TIMEOUT(ready.size(), 1, kPatienceMs);
        QVERIFY(says(dialog, QStringLiteral("is there and works")));
        QFile chosen(home_.filePath(QStringLiteral("furrow/torch/chosen")));
        QVERIFY(chosen.open(QIODevice::ReadOnly) && chosen.readAll().startsWith(FURROW_TORCH_ENVIRONMENT));
    }

    void isOfferedWhereNothingCanBeTrained()
    {
        Workbench bench(home_.path());
        EstimatePanel panel(bench);
        panel.show();
        const auto* offer = buttonOf(panel, QStringLiteral("Install libtorch…"));
        QVERIFY(offer != nullptr && !offer->isVisible());
        panel.setMachineProblem(QStringLiteral("libtorch is missing"));
        QVERIFY(offer->isVisible());
        panel.setMachineProblem({});
        QVERIFY(!offer->isVisible());
    }
};

QTEST_MAIN(TestTorchDialog)
#include "tst_torch_dialog.moc"
