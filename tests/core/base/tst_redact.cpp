#include "core/base/redact.h"

#include <QtTest>

using namespace furrow;

class TestRedact : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void accountsOfAddressesAreHidden_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("shown");
        QTest::newRow("plain") << QByteArray("see https://ann:geheim@h/x now") << QByteArray("see https://<hidden>@h/x now");
        QTest::newRow("percent-encoded") << QByteArray("http://a:p%40s%2Fs@h:8") << QByteArray("http://<hidden>@h:8");
        QTest::newRow("another @ in the password") << QByteArray("http://a:p@ss@h/b@c") << QByteArray("http://<hidden>@h/b@c");
        QTest::newRow("name only") << QByteArray("ssh://git@h") << QByteArray("ssh://<hidden>@h");
        QTest::newRow("two") << QByteArray("x://a:1@h and y://b:2@i") << QByteArray("x://<hidden>@h and y://<hidden>@i");
        QTest::newRow("none") << QByteArray("hf://o/n@main/x, a@b") << QByteArray("hf://o/n@main/x, a@b");
        QTest::newRow("header") << QByteArray("Authorization: Bearer abc.def") << QByteArray("Authorization: Bearer <hidden>");
        QTest::newRow("paths stay") << QByteArray("/data/hf_datasets_cache/token_list.txt") << QByteArray("/data/hf_datasets_cache/token_list.txt");
    }
    void accountsOfAddressesAreHidden()
    {
        QFETCH(const QByteArray, text);
        QFETCH(const QByteArray, shown);
        QCOMPARE(QByteArray::fromStdString(withoutSecrets(text.toStdString())), shown);
    }

    void aSecretIsHiddenWhereverItStands()
    {
        const Secret secret("S3cr3t-of-the-test");
        QCOMPARE(withoutSecrets("aS3cr3t-of-the-testb"), std::string("a<hidden>b"));
        QVERIFY(redacted("x S3cr3t-of-the-test").find("S3cr3t") == std::string::npos);
    }

    void accountsAreTakenApart()
    {
        QCOMPARE(withoutAccount("http://a:b@h/x").account, std::string("a:b"));
        QCOMPARE(withoutAccount("http://a:b@h/x").address, std::string("http://h/x"));
        QCOMPARE(withoutAccount("http://h/x@y").address, std::string("http://h/x@y"));
        QCOMPARE(withoutAccount("plain@text").account, std::string());
    }

    void variablesWithSecretsAreKnown()
    {
        for (const char* name : { "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "WANDB_API_KEY", "PGPASSWORD" })
            QVERIFY2(isSecretVariable(name, "x"), name);
        QVERIFY(isSecretVariable("https_proxy", "http://u:p@proxy:8080"));
        for (const char* name : { "PATH", "HF_HOME", "TOKENIZERS_PARALLELISM", "CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH" })
            QVERIFY2(!isSecretVariable(name, "/usr/bin:/bin"), name);
        QVERIFY(!isSecretVariable("https_proxy", "http://proxy:8080"));
    }
};

QTEST_GUILESS_MAIN(TestRedact)
#include "tst_redact.moc"
