#include "ui/models/run_form.h"
#include "ui/models/setting_words.h"
#include "ui/models/typed_number.h"
#include "ui/parts/form_field.h"
#include "ui/parts/number_field.h"
#include "ui/parts/sampling_fields.h"
#include "ui/shell/appearance.h"

#include <QApplication>
#include <QComboBox>
#include <QFormLayout>
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

    /// In Spanish "1.000" was trained as 1, "1.500.000" was no number, and the form itself showed "10.000".
    void aThousandTypedInSpanishWasOne_data()
    {
        QTest::addColumn<Language>("language");
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("whole"); ///< what a whole number of core is then; empty: refused
        QTest::addColumn<QString>("real");
        const auto row = [](Language language, const char* text, const char* whole, const char* real) {
            QTest::addRow("%s, %s",
                language == Language::Spanish       ? "es"
                    : language == Language::Chinese ? "zh"
                                                    : "en",
                text)
                << language << QString::fromUtf8(text) << QString::fromUtf8(whole) << QString::fromUtf8(real);
        };
        row(Language::Spanish, "1000", "1000", "1000");
        row(Language::Spanish, "1.000", "1000", "");
        row(Language::Spanish, "20.000", "20000", "");
        row(Language::Spanish, "1.500.000", "1500000", "1500000");
        row(Language::Spanish, "1 500 000", "1500000", "1500000");
        row(Language::Spanish, "1,000", "", "1.000");
        row(Language::Spanish, "0,5", "", "0.5");
        row(Language::Spanish, "0.5", "", "0.5");
        row(Language::Spanish, "0.001", "", "0.001");
        row(Language::Spanish, "1.500,5", "", "1500.5");
        row(Language::Spanish, "1.50.000", "", "");
        row(Language::Spanish, "1e6", "1e6", "1e6");
        for (const Language language : { Language::English, Language::Chinese }) {
            row(language, "1,000", "1000", "1000");
            row(language, "1.000", "", "1.000");
            row(language, "1,500,000", "1500000", "1500000");
            row(language, "1.500.000", "", "");
            row(language, "0,5", "", "");
            row(language, "0.5", "", "0.5");
            row(language, "1,5", "", "");
            row(language, "-1", "-1", "-1");
            row(language, "1e-5", "1e-5", "1e-5");
        }
    }

    void aThousandTypedInSpanishWasOne()
    {
        QFETCH(Language, language);
        QFETCH(QString, text);
        Appearance appearance(false);
        appearance.setLanguage(language);
        const auto back = qScopeGuard([&appearance] { appearance.setLanguage(Language::English); });
        QTEST(typedNumber(text, true).plain, "whole");
        QTEST(typedNumber(text, false).plain, "real");
    }

    void whatAFieldShowsIsReadBackAsTheSameNumber_data() { everyFieldKeepsWhatIsTypedAndSaysWhatIsWrong_data(); }

    void whatAFieldShowsIsReadBackAsTheSameNumber()
    {
        QFETCH(Language, language);
        Appearance appearance(false);
        appearance.setLanguage(language);
        const auto back = qScopeGuard([&appearance] { appearance.setLanguage(Language::English); });
        for (const Setting& setting : settings()) {
            const bool isWhole = std::holds_alternative<std::int64_t RunConfig::*>(setting.field);
            if (!isWhole && !std::holds_alternative<double RunConfig::*>(setting.field))
                continue;
            for (const double value : { 0.0, 1.0, 7.0, 1000.0, 1234.0, 10'000.0, 1'500'000.0, 0.125, 1.125, 1e-5 }) {
                RunConfig config;
                if (!setSetting(config, setting, QString::number(value, 'g', 12).toStdString()).empty())
                    continue;
                const QString shown
                    = FormField::shownValue(setting, QString::fromStdString(settingText(config, setting)));
                RunConfig again;
                QVERIFY2(setTyped(again, setting, shown).empty(), qPrintable(shown));
                QCOMPARE(settingText(again, setting), settingText(config, setting));
            }
        }
    }

    void whatIsAmbiguousIsRefusedInASentence()
    {
        Appearance appearance(false);
        RunForm form;
        QWidget page;
        FormField warmup(*findSetting("warmup_steps"), form, &page);
        auto* line = qobject_cast<QLineEdit*>(warmup.editor());
        const auto before = form.config().warmupSteps;
        line->clear();
        QTest::keyClicks(line, QStringLiteral("1.000"));
        QCOMPARE(form.config().warmupSteps, before);
        QCOMPARE(FormField::problemText(form.problemsOf("warmup_steps").front(), form.text(warmup.setting())),
            QStringLiteral("Warm-up: 1.000 can be read in two ways. Write 1,000 or 1."));
        warmup.refresh(form.problems());
        QCOMPARE(warmup.shownText(), QStringLiteral("1.000")); // as it was typed
        appearance.setLanguage(Language::Spanish);
        const auto back = qScopeGuard([&appearance] { appearance.setLanguage(Language::English); });
        line->clear();
        QTest::keyClicks(line, QStringLiteral("1.000"));
        QCOMPARE(form.config().warmupSteps, std::int64_t(1000));
        QVERIFY(form.problemsOf("warmup_steps").empty());
    }

    /// "-1" typed as a temperature stayed 0.80, and 999999 tokens became 99999.
    void aSamplingFieldTookAnotherNumberThanWasTyped()
    {
        QWidget page;
        QFormLayout layout(&page);
        SamplingFields fields;
        fields.addTo(layout, QStringLiteral("Tokens"), {});
        NumberField* temperature = nullptr;
        NumberField* tokens = nullptr;
        for (NumberField* field : page.findChildren<NumberField*>())
            (field->accessibleName() == QLatin1String("Temperature")     ? temperature
                    : field->accessibleName() == QLatin1String("Tokens") ? tokens
                                                                         : field)
                = field;
        QVERIFY(temperature != nullptr && tokens != nullptr);
        const auto type = [](NumberField* field, const QString& text) {
            field->clear();
            QTest::keyClicks(field, text);
        };
        type(temperature, QStringLiteral("-1"));
        QVERIFY(!fields.choices());
        QCOMPARE(temperature->text(), QStringLiteral("-1"));
        QCOMPARE(temperature->problem(), QStringLiteral("Temperature must be a number from 0 to 5."));
        type(temperature, QStringLiteral("1.5"));
        QCOMPARE(fields.choices()->temperature, 1.5);
        type(tokens, QStringLiteral("999999"));
        QVERIFY(!fields.choices());
        QCOMPARE(tokens->text(), QStringLiteral("999999"));
        type(tokens, QStringLiteral("2,000"));
        QCOMPARE(fields.choices()->tokens, 2000);
        QTest::keyClick(tokens, Qt::Key_Up);
        QCOMPARE(fields.choices()->tokens, 2001);
    }
};

QTEST_MAIN(TestFormFields)
#include "tst_form_fields.moc"
