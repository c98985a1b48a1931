// Choosing a model of the hub from the console: furrowctl, a process, fetches it.
#include "fake_hub.h"
#include "ui/pages/new_run/hub_model_dialog.h"

#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>

using namespace furrow;
using test::FakeHub;

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

class TestHubModelDialog : public QObject {
    Q_OBJECT

    QTemporaryDir home_;
    FakeHub hub_;

private Q_SLOTS:
    void initTestCase()
    {
        qputenv("XDG_DATA_HOME", home_.path().toUtf8());
        qputenv("HF_HOME", (home_.path() + QStringLiteral("/none")).toUtf8());
        qputenv("HF_ENDPOINT", hub_.endpoint().c_str());
        FakeHub::Repository model;
        model.files = { { "config.json", "{}" }, { "model.safetensors", std::string(100'000, 'w') } };
        hub_.add("o/n", model);
    }

    void whatTheHubDoesNotHaveIsSaid()
    {
        HubModelDialog dialog;
        dialog.show();
        QSignalSpy chosen(&dialog, &HubModelDialog::chosen);
        auto* fetch = buttonOf(dialog, QStringLiteral("Download and use"));
        QVERIFY(fetch != nullptr && !fetch->isEnabled());
        dialog.findChild<QLineEdit*>()->setText(QStringLiteral("hf://o/none"));
        fetch->click();
        QTRY_VERIFY_WITH_TIMEOUT(fetch->isEnabled(), kPatienceMs);
        QVERIFY(says(dialog, QStringLiteral("does not exist, or is private")));
        QVERIFY(chosen.isEmpty());
        QTRY_VERIFY(says(dialog, QStringLiteral("No model has been downloaded to this computer yet.")));
    }

    void aModelIsFetchedOnceAndFoundAgain()
    {
        QString place;
        {
            HubModelDialog dialog;
            dialog.show();
            QSignalSpy chosen(&dialog, &HubModelDialog::chosen);
            dialog.findChild<QLineEdit*>()->setText(QStringLiteral("o/n")); // the scheme goes without saying
            buttonOf(dialog, QStringLiteral("Download and use"))->click();
            QTRY_COMPARE_WITH_TIMEOUT(chosen.size(), 1, kPatienceMs);
            place = chosen.front().front().toString();
            QVERIFY(QFile::exists(place + QStringLiteral("/model.safetensors")));
        }
        HubModelDialog dialog;
        dialog.show();
        QSignalSpy chosen(&dialog, &HubModelDialog::chosen);
        auto* here = dialog.findChild<QListWidget*>();
        QTRY_COMPARE_WITH_TIMEOUT(here->count(), 1, kPatienceMs);
        QVERIFY(here->item(0)->text().startsWith(QStringLiteral("hf://o/n@")));
        here->setCurrentRow(0);
        buttonOf(dialog, QStringLiteral("Use the selected one"))->click();
        QCOMPARE(chosen.size(), 1);
        QCOMPARE(chosen.front().front().toString(), place);
    }
};

QTEST_MAIN(TestHubModelDialog)
#include "tst_hub_model_dialog.moc"
