#include "ui/models/run_form.h"
#include "ui/models/setting_words.h"
#include "ui/parts/form_field.h"
#include "ui/shell/appearance.h"

#include <QApplication>
#include <QComboBox>
#include <QLineEdit>
#include <QScopeGuard>
#include <QTest>
#include <QVBoxLayout>
#include <QWheelEvent>

using namespace furrow;

namespace {

/// What people and accidents put into fields.
const QStringList kInputs { QString(), QStringLiteral(" "), QStringLiteral("0"), QStringLiteral("-1"),
    QStringLiteral("1e400"), QStringLiteral("99999999999999999999"), QStringLiteral("nan"), QStringLiteral("1.5"),
    QStringLiteral("1,5"), QStringLiteral("0x10"), QStringLiteral("many"), QStringLiteral("'; DROP TABLE chunk; --"),
    QStringLiteral("%1 %2 %n"), QStringLiteral("<b>bold</b>"), QStringLiteral("数据"),
    QString(20'000, QLatin1Char('9')) };

} // namespace

class TestFormFields : public QObject {
    Q_OBJECT

private Q_SLOTS:
    /// Who scrolled the form or the resume dialog chose another precision or rate plan without a word.
    void theWheelChangedAFieldThatNobodyWasIn()
    {
        const Appearance appearance(false);
        QWidget page;
        auto* column = new QVBoxLayout(&page);
        auto* other = new QLineEdit;
        auto* choice = new QComboBox;
        choice->addItems({ QStringLiteral("automatic"), QStringLiteral("bf16"), QStringLiteral("fp16") });
        column->addWidget(other);
        column->addWidget(choice);
        page.show();
        QVERIFY(QTest::qWaitForWindowActive(&page));
        other->setFocus();
        const auto turn = [choice] {
            const QPoint centre = choice->rect().center();
            QWheelEvent wheel(centre, choice->mapToGlobal(centre), {}, { 0, -120 }, Qt::NoButton, Qt::NoModifier,
                Qt::NoScrollPhase, false);
            QApplication::sendEvent(choice, &wheel);
        };
        turn();
        QCOMPARE(choice->currentIndex(), 0);
        choice->setFocus();
        turn();
        QCOMPARE(choice->currentIndex(), 1);
    }

    void everyFieldKeepsWhatIsTypedAndSaysWhatIsWrong_data()
    {
        QTest::addColumn<Language>("language");
        for (const auto& one : kClosedNames<Language>)
            QTest::newRow(one.name.data()) << one.value;
    }

    void everyFieldKeepsWhatIsTypedAndSaysWhatIsWrong()
    {
        QFETCH(Language, language);
        Appearance appearance(false);
        appearance.setLanguage(language);
        const auto back = qScopeGuard([&appearance] { appearance.setLanguage(Language::English); });
        int typed = 0;
        for (const Setting& setting : settings()) {
            RunForm form;
            QWidget page;
            FormField field(setting, form, &page);
            const QString before = form.text(setting);
            auto* edit = qobject_cast<QLineEdit*>(field.editor());
            if (edit == nullptr)
                edit = field.editor()->findChild<QLineEdit*>();
            if (edit == nullptr || edit->isReadOnly())
                continue; // a switch or a list of choices
            ++typed;
            for (const QString& input : kInputs) {
                const QString where
                    = QStringLiteral("%1 = '%2'").arg(QString::fromStdString(setting.key), input.left(30));
                edit->setText(input);
                Q_EMIT edit->textEdited(input);
                const auto problems = form.problemsOf(setting.key);
                field.refresh(form.problems());
                QCOMPARE(field.hasProblem(), !problems.empty());
                RunConfig taken = form.config(); // what the form holds can always be written and read again
                QVERIFY2(setSetting(taken, setting, settingText(form.config(), setting)).empty(), qPrintable(where));
                for (const ConfigProblem& problem : problems) {
                    const QString words = FormField::problemText(problem, form.text(setting));
                    QVERIFY2(!words.isEmpty(), qPrintable(where));
                    QVERIFY2(words.contains(settingLabel(setting)), qPrintable(where + QStringLiteral(": ") + words));
                    QVERIFY2(language == Language::English || !words.contains(QLatin1String("allowed")),
                        qPrintable(where + QStringLiteral(": ") + words));
                }
                QVERIFY2(
                    problems.empty() || form.isChanged(setting) || before == form.text(setting), qPrintable(where));
            }
            form.revert(setting);
            QCOMPARE(form.text(setting), before);
        }
        QVERIFY(typed > 60);
    }
};

QTEST_MAIN(TestFormFields)
#include "tst_form_fields.moc"
