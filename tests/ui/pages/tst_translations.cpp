#include "core/config/schema.h"
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
};

TsCounts countMessages(const QString& language)
{
    QFile file(QStringLiteral(FURROW_SOURCE_DIR "/translations/furrow_%1.ts").arg(language));
    if (!file.open(QIODevice::ReadOnly))
        qFatal("%s cannot be read", qPrintable(file.fileName()));
    QXmlStreamReader xml(&file);
    TsCounts counts;
    QString source;
    while (!xml.atEnd()) {
        xml.readNext();
        if (!xml.isStartElement())
            continue;
        if (xml.name() == QLatin1String("source")) {
            source = xml.readElementText();
        } else if (xml.name() == QLatin1String("translation")) {
            ++counts.messages;
            const bool marked = xml.attributes().value(QLatin1String("type")) == QLatin1String("unfinished");
            const QString text = xml.readElementText(QXmlStreamReader::IncludeChildElements);
            if (marked || text.trimmed().isEmpty())
                counts.unfinished.append(source);
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
};

QTEST_MAIN(TestTranslations)
#include "tst_translations.moc"
