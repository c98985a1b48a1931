#include "core/data/question_file.h"

#include <QTemporaryDir>
#include <QTest>

#include <fstream>

using namespace furrow;

class TestQuestionFile : public QObject {
    Q_OBJECT

    QTemporaryDir folder_;

    Result<QuestionFile> reading(const std::string& text)
    {
        const auto path = folder_.filePath(QStringLiteral("tasks.jsonl")).toStdString();
        std::ofstream(path, std::ios::binary) << text;
        return readQuestions(path);
    }

private Q_SLOTS:
    void theRightChoiceIsNamedInManyWays_data()
    {
        QTest::addColumn<QByteArray>("row");
        QTest::addColumn<int>("right");
        const auto row
            = [](const char* name, const char* text, int right) { QTest::newRow(name) << QByteArray(text) << right; };
        row("place", R"({"question": "q", "choices": ["x", "y", "z"], "gold": 2})", 2);
        row("place as text", R"({"ctx": "q", "endings": ["x", "y", "z"], "label": "1"})", 1);
        row("text", R"({"query": "q", "options": ["x", "y"], "answer": "y"})", 1);
        row("letter", R"({"question": "q", "choices": ["x", "y"], "answer": "B"})", 1);
        row("label", R"({"question": "q", "choices": {"text": ["x", "y"], "label": ["1", "2"]}, "answerKey": "2"})", 1);
        row("numbers", R"({"prompt": "2 + 2", "choices": [3, 4], "target": "4"})", 1);
        row("a choice comes before a place", R"({"prompt": "1 + 0", "choices": ["1", "0"], "gold": "0"})", 1);
        row("null is not there", R"({"prompt": "q", "choices": ["x", "y"], "gold": null, "answer": 0})", 0);
    }
    void theRightChoiceIsNamedInManyWays()
    {
        QFETCH(QByteArray, row);
        QFETCH(int, right);
        const auto file = reading(row.toStdString());
        QVERIFY2(file.ok(), file.ok() ? "" : file.error().message.c_str());
        QCOMPARE(file.value().questions.size(), std::size_t(1));
        const auto& question = file.value().questions.front();
        QCOMPARE(static_cast<int>(question.right), right);
        QCOMPARE(question.answer, question.choices[question.right]);
    }

    void rowsThatAreNoQuestionsAreCountedAndNamed_data()
    {
        QTest::addColumn<QByteArray>("row");
        QTest::addColumn<QString>("said");
        const auto row = [](const char* text, const char* said) {
            QTest::newRow(said) << QByteArray(text) << QString::fromUtf8(said);
        };
        row("{\"question\": ", "broken JSON");
        row("[1]", "not a JSON object");
        row("{\"question\": \"\xff\"}", "not UTF-8");
        row(R"({"choices": ["x", "y"], "gold": 1})", "no text under 'question'");
        row(R"({"question": "q", "choices": ["x"], "gold": 0})", "not a list of two or more texts");
        row(R"({"question": "q", "choices": "xy", "gold": 0})", "not a list of two or more texts");
        row(R"({"question": "q", "choices": ["x", {}], "gold": 0})", "not a list of two or more texts");
        row(R"({"question": "q", "choices": ["x", "y"], "gold": 2})", "no choice is named");
        row(R"({"question": "q", "choices": ["x", "y"], "gold": -1})", "no choice is named");
        row(R"({"question": "q", "choices": ["x", "y"], "gold": 1e30})", "no choice is named");
        row(R"({"question": "q", "choices": ["x", "y"]})", "no choice is named");
        row(R"({"question": "q"})", "neither choices nor a text");
    }
    void rowsThatAreNoQuestionsAreCountedAndNamed()
    {
        QFETCH(QByteArray, row);
        QFETCH(QString, said);
        const auto file = reading("\xEF\xBB\xBF{\"question\": \"q\", \"answer\": \"a\"}\r\n\n" + row.toStdString()
            + "\n" + row.toStdString());
        QVERIFY(file.ok());
        QCOMPARE(file.value().questions.size(), std::size_t(1));
        QCOMPARE(file.value().unusable, std::int64_t(2));
        const auto first = QString::fromStdString(file.value().firstUnusable.text());
        QVERIFY2(first.startsWith(QLatin1String("line 3 of ")) && first.contains(said), qPrintable(first));
    }

    void aFileWithoutQuestionsIsRefused()
    {
        const auto said = [this](const std::string& text) {
            const auto file = reading(text);
            return file.ok() ? QString() : QString::fromStdString(file.error().message);
        };
        QVERIFY(said("").contains("holds no questions"));
        QVERIFY(said("{}\n").contains("No line of "));
        QVERIFY(
            said("{\"question\": \"q\", \"answer\": \"a\"}\n{\"question\": \"q\", \"choices\": [1, 2], \"gold\": 0}\n")
                .contains("is of another kind than line 1"));
        QVERIFY(!readQuestions(folder_.filePath(QStringLiteral("none")).toStdString()).ok());
    }
};

QTEST_GUILESS_MAIN(TestQuestionFile)
#include "tst_question_file.moc"
