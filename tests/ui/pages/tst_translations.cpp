#include "core/chat/row_problems.h"
#include "core/config/csv_character.h"
#include "core/config/schema.h"
#include "core/data/source/column_choice.h"
#include "core/data/source/content_claim.h"
#include "ui/models/core_words.h"
#include "ui/models/words.h"

#include <QFile>
#include <QTranslator>
#include <QXmlStreamReader>
#include <QtTest>

using namespace furrow;

namespace {

struct TsCounts {
    int messages = 0;
    QStringList unfinished;
    QStringList unfinishedPlurals; ///< of `unfinished`
};

TsCounts countMessages(const QString& language)
{
    QFile file(QStringLiteral(FURROW_SOURCE_DIR "/translations/furrow_%1.ts").arg(language));
    if (!file.open(QIODevice::ReadOnly))
        qFatal("%s cannot be read", qPrintable(file.fileName()));
    QXmlStreamReader xml(&file);
    TsCounts counts;
    QString source;
    bool isPlural = false;
    while (!xml.atEnd()) {
        xml.readNext();
        if (!xml.isStartElement())
            continue;
        if (xml.name() == QLatin1String("message")) {
            isPlural = xml.attributes().hasAttribute(QLatin1String("numerus"));
        } else if (xml.name() == QLatin1String("source")) {
            source = xml.readElementText();
        } else if (xml.name() == QLatin1String("translation")) {
            ++counts.messages;
            const bool marked = xml.attributes().value(QLatin1String("type")) == QLatin1String("unfinished");
            const QString text = xml.readElementText(QXmlStreamReader::IncludeChildElements);
            if (marked || text.trimmed().isEmpty()) {
                counts.unfinished.append(source);
                if (isPlural)
                    counts.unfinishedPlurals.append(source);
            }
        }
    }
    return counts;
}

/// %1, %2, %n of a text, sorted.
QStringList places(const QString& text)
{
    QStringList found;
    static const QRegularExpression place(QStringLiteral("%(\\d+|n)"));
    for (auto match = place.globalMatch(text); match.hasNext();)
        found.append(match.next().captured());
    found.sort();
    found.removeDuplicates();
    return found;
}

} // namespace

class TestTranslations : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void everyTextIsTranslated_data()
    {
        QTest::addColumn<QString>("language");
        QTest::newRow("es") << QStringLiteral("es");
        QTest::newRow("zh_CN") << QStringLiteral("zh_CN");
    }
    void everyTextIsTranslated()
    {
        QFETCH(const QString, language);
        const TsCounts counts = countMessages(language);
        QVERIFY(counts.messages > 300);
        QVERIFY2(counts.unfinished.isEmpty(),
            qPrintable(QStringLiteral("%1 unfinished: %2")
                    .arg(counts.unfinished.size())
                    .arg(counts.unfinished.mid(0, 5).join(QStringLiteral(" | ")))));
    }

    /// "mean of 2 worker(s)": English is in the code but for its plurals.
    void anEnglishPluralWasShownAsItStandsInTheCode()
    {
        const TsCounts counts = countMessages(QStringLiteral("en"));
        QVERIFY(counts.messages > 300);
        QVERIFY2(counts.unfinishedPlurals.isEmpty(), qPrintable(counts.unfinishedPlurals.join(QStringLiteral(" | "))));
    }

    void everyLanguageIsInTheProgramAndKnowsTheSchema_data() { everyTextIsTranslated_data(); }
    void everyLanguageIsInTheProgramAndKnowsTheSchema()
    {
        QFETCH(const QString, language);
        QTranslator translator;
        QVERIFY(translator.load(QStringLiteral(":/i18n/furrow_%1.qm").arg(language)));
        for (const Setting& setting : settings()) {
            QVERIFY2(!translator.translate("Schema", setting.label.c_str()).isEmpty(), setting.label.c_str());
            const QString help = translator.translate("Schema", setting.help.c_str());
            QVERIFY2(!help.isEmpty(), setting.help.c_str());
            QCOMPARE(places(help), places(QString::fromStdString(setting.help)));
        }
    }

    /// "la fila 305 (línea 306) de verybroken.jsonl is broken JSON", "es a Word document", "separador semicolon".
    void aNoteOnDataWasHalfEnglish()
    {
        const auto said = [] {
            QStringList all;
            for (const char* problem : { "is broken JSON", "has no messages in chat", "is longer than 16 MiB",
                     "has a message 2 of the unknown role 'narrator'", "is refused: no" })
                all.append(coreWords(sentence("row %1 (counted from 0) of %2 %3", { "3", "a", rowProblem(problem) })));
            for (const char c : { ';', ',', '\t', '\0' })
                all.append(coreWords(csvCharacterInWords(c)));
            for (const char* magic : { "\x89PNG", "%PDF-", "Rar!\x1a" })
                all.append(coreWords(notText("a", *knownContent(magic)).message));
            all.append(coreWords(shownNames({})));
            return all;
        };
        const QStringList english = said();
        QTranslator translator;
        QVERIFY(translator.load(QStringLiteral(":/i18n/furrow_es.qm")));
        QVERIFY(QCoreApplication::installTranslator(&translator));
        const QStringList spanish = said();
        QCoreApplication::removeTranslator(&translator);
        static const QRegularExpression word(
            QStringLiteral("\\b(is|has|the|none|semicolon|comma|tab|picture|document|archive|longer|refused)\\b"));
        for (qsizetype i = 0; i < spanish.size(); ++i)
            QVERIFY2(spanish[i] != english[i] && !word.match(spanish[i]).hasMatch(), qPrintable(spanish[i]));
    }

    /// "Compruebe" and "escriba" stood beside "Guárdalo" and "Indica".
    void peopleWereAddressedInTwoWays()
    {
        QFile file(QStringLiteral(FURROW_SOURCE_DIR "/translations/furrow_es.ts"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        static const QRegularExpression familiar(
            QStringLiteral("(>|[.:;] |, [oe] | [oe] )(tú|tus?|puedes|quieres|tienes|debes|dale|dilo"
                           "|\\w*(árga|árda|éja|íta|érra|énta|ríbe|tráe|súbe|pón)l[oa]s?"
                           "|(indica|escribe|corrige|pon) (con|un|una|los|las|ese|la) ?)\\b"),
            QRegularExpression::CaseInsensitiveOption | QRegularExpression::UseUnicodePropertiesOption);
        const QString text = QString::fromUtf8(file.readAll());
        const auto found = familiar.match(text);
        QVERIFY2(!found.hasMatch(), qPrintable(text.mid(std::max(0, int(found.capturedStart()) - 80), 160)));
    }
};

QTEST_MAIN(TestTranslations)
#include "tst_translations.moc"
