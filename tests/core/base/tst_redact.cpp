#include "core/base/redact.h"
#include "core/base/secret_variables.h"

#include <QtTest>

using namespace furrow;

class TestRedact : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void accountsOfAddressesAreHidden_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("shown");
        QTest::newRow("plain") << QByteArray("see https://ann:geheim@h/x now")
                               << QByteArray("see https://<hidden>@h/x now");
        QTest::newRow("percent-encoded") << QByteArray("http://a:p%40s%2Fs@h:8") << QByteArray("http://<hidden>@h:8");
        QTest::newRow("another @ in the password")
            << QByteArray("http://a:p@ss@h/b@c") << QByteArray("http://<hidden>@h/b@c");
        QTest::newRow("name only") << QByteArray("ssh://git@h") << QByteArray("ssh://<hidden>@h");
        QTest::newRow("two") << QByteArray("x://a:1@h and y://b:2@i")
                             << QByteArray("x://<hidden>@h and y://<hidden>@i");
        QTest::newRow("none") << QByteArray("hf://o/n@main/x, a@b") << QByteArray("hf://o/n@main/x, a@b");
        const auto row = [](const char* name, const char* text, const char* shown) {
            QTest::newRow(name) << QByteArray(text) << QByteArray(shown);
        };
        row("a slash in the password", "get https://user:p/a:ss@host/x now", "get https://<hidden>@host/x now");
        row("a question mark in the password", "'https://user:p?a@host/x'", "'https://<hidden>@host/x'");
        row("two with a slash", "https://u:p/a@h https://v:q/b@i \"c@d\"",
            "https://<hidden>@h https://<hidden>@i \"c@d\"");
        row("a scheme in the password", "https://u:p://x@h/y", "https://<hidden>@h/y");
        row("no scheme", "//u:pw1secret@h/x (//v:q@i)", "//<hidden>@h/x (//<hidden>@i)");
        row("one slash", "cannot read wss:/u:S3cr3t@h, gone", "cannot read wss:/<hidden>@h, gone");
        row("no slash", "https:u:S3cr3t@h/x", "https:<hidden>@h/x");
        row("three slashes", "https:///u:S3cr3t@h/x", "https:///<hidden>@h/x");
        row("backslashes", "https:\\\\u:S3cr3t@h", "https:\\\\<hidden>@h");
        row("slashes of both kinds", "ftp:/\\u:S3cr3t@h", "ftp:/\\<hidden>@h");
        row("capitals", "WSS:/U:S3cr3t@H HTTPS:U:S3cr3t@H", "WSS:/<hidden>@H HTTPS:<hidden>@H");
        row("behind an option", "--data=wss:/u:S3cr3t@h", "--data=wss:/<hidden>@h");
        row("as a file of a folder", "/home/ann/wss:/u:S3cr3t@h/x", "/home/ann/wss:/<hidden>@h/x");
        row("a slash in the password of one slash", "wss:/u:S3/cr3t@h", "wss:/<hidden>@h");
        row("an @ in the password of one slash", "wss:/u:S3@cr3t@h", "wss:/<hidden>@h");
        row("behind a word", "cannot open:wss:/u:S3cr3t@h", "cannot open:wss:/<hidden>@h");
        row("no colon", "get https//u:S3cr3t@h/x", "get https//<hidden>@h/x");
        row("no colon, of a store", "S3//u:S3cr3t@b hf//u:S3/cr3t@h", "S3//<hidden>@b hf//<hidden>@h");
        row("no colon, as a file of a folder", "/home/ann/https/u:S3cr3t@h/x", "/home/ann/https/<hidden>@h/x");
        row("no colon behind an unknown scheme", "htps//u:S3cr3t@h --data=abc//u:S3cr3t@h",
            "htps//<hidden>@h --data=abc//<hidden>@h");
        row("one slash, of a store", "hf:/u:S3cr3t@h s3:/u:S3cr3t@h", "hf:/<hidden>@h s3:/<hidden>@h");
        row("of a database", "postgresql:u:S3cr3t@h/x jdbc:mysql:u:S3cr3t@h",
            "postgresql:<hidden>@h/x jdbc:mysql:<hidden>@h");
        row("joined schemes", "git+https:u:S3cr3t@h mongodb+srv:u:S3cr3t@h",
            "git+https:<hidden>@h mongodb+srv:<hidden>@h");
        row("folders with the names of schemes", "/home/git/a@b /srv/http/x:y/z@v data/git//a@b cc/dd//e:f@g",
            "/home/git/a@b /srv/http/x:y/z@v data/git//a@b cc/dd//e:f@g");
        row("no password", "mailto:ann@host ssh:/git@h hf:owner/name@main",
            "mailto:ann@host ssh:/git@h hf:owner/name@main");
        row("a drive", "C:\\data\\a:b@c C:/data/u:v@w", "C:\\data\\a:b@c C:/data/u:v@w");
        row("a port of one slash", "https:/host:8080/a@revision", "https:/host:8080/a@revision");
        row("times", "at 12:30:45@x and 2026-11-29T00:31:08@y", "at 12:30:45@x and 2026-11-29T00:31:08@y");
        row("words with colons", "sweep:lr:0.1@v2 furrow::foo::bar@x gcc:cuda:openmpi@4",
            "sweep:lr:0.1@v2 furrow::foo::bar@x gcc:cuda:openmpi@4");
        row("a time in a path", "/data/run:2026-11-29T12:30:05/file@v2", "/data/run:2026-11-29T12:30:05/file@v2");
        row("a revision", "https://host/a@revision", "https://host/a@revision");
        row("a port and a revision", "https://host:8080/a@revision", "https://host:8080/a@revision");
        row("an empty port and a revision", "https://host:/a@revision", "https://host:/a@revision");
        row("a host of version 6 and a revision", "http://[::1]:80/a@b http://[::1]/a@b",
            "http://[::1]:80/a@b http://[::1]/a@b");
        row("a file", "file:///data/a@b and /data//u:x@y", "file:///data/a@b and /data//u:x@y");
        row("a comment", "x = 1; // see ann@host, u:v@w", "x = 1; // see ann@host, u:v@w");
        row("Amazon",
            "https://b.s3.com/k?X-Amz-Credential=AKIA%2F2026%2Fs3&X-Amz-Expires=60&X-Amz-Security-Token=Fwo%3D&X-Amz-Signature=0af1, gone",
            "https://b.s3.com/k?X-Amz-Credential=<hidden>&X-Amz-Expires=60&X-Amz-Security-Token=<hidden>&X-Amz-Signature=<hidden> gone");
        row("Amazon of before", "https://b/k?AWSAccessKeyId=AKIA1&Expires=1&Signature=a/b+c%3D#x",
            "https://b/k?AWSAccessKeyId=<hidden>&Expires=1&Signature=<hidden>#x");
        row("Azure", "\"https://a.net/c/b?sv=2026&se=2027&sp=r&sig=Zm9v%2Fbar%3D\"",
            "\"https://a.net/c/b?sv=2026&se=2027&sp=r&sig=<hidden>\"");
        row("Google", "https://s/b?X-Goog-Credential=me%40p&X-Goog-Signature=00ff&GoogleAccessId=me",
            "https://s/b?X-Goog-Credential=<hidden>&X-Goog-Signature=<hidden>&GoogleAccessId=<hidden>");
        row("CloudFront", "https://c/x?Policy=eyJ_&Signature=a~b-&Key-Pair-Id=K2",
            "https://c/x?Policy=<hidden>&Signature=<hidden>&Key-Pair-Id=<hidden>");
        row("in JSON text", "{\"url\":\"https://b/k?a=1\\u0026X-Amz-Signature=0af1\\u0026sig=2\"}",
            "{\"url\":\"https://b/k?a=1\\u0026X-Amz-Signature=<hidden>\\u0026sig=<hidden>\"}");
        row("a setting that is no parameter", "policy=cosine, sig=3, seed=1", "policy=cosine, sig=3, seed=1");
        row("a key of any name", "GET https://h/d.txt?key=S3cr3tS3cr3t&raw=1 failed",
            "GET https://h/d.txt?key=<hidden>&raw=1 failed");
        row("a word behind the question mark", "https://h/d.txt?S3cr3tS3cr3t", "https://h/d.txt?<hidden>");
        row("a parameter of the path", "https://h/d.txt;jsessionid=S3cr3t?raw=1",
            "https://h/d.txt;jsessionid=<hidden>?raw=1");
        row("a token in the fragment", "https://h/d.txt#access_token=S3cr3t and #3",
            "https://h/d.txt#access_token=<hidden> and #3");
        row("a parameter inside a value", "https://h/d?path=1%26token=S3cr3t", "https://h/d?path=<hidden>");
        row("a token among the folders", "https://h/hf_AbCdEfGhIjKlMnOpQrStUvWxYz01234567/d.txt",
            "https://h/<hidden>/d.txt");
        row("harmless parameters", "https://h/d?download=true&rev=main&part=12#read-me",
            "https://h/d?download=true&rev=main&part=12#read-me");
        row("behind an account", "https://u:pw1secret@h/x?key=S3cr3tS3cr3t", "https://<hidden>@h/x?key=<hidden>");
        QTest::newRow("header") << QByteArray("Authorization: Bearer abc.def")
                                << QByteArray("Authorization: Bearer <hidden>");
        QTest::newRow("paths stay") << QByteArray("/data/hf_datasets_cache/token_list.txt")
                                    << QByteArray("/data/hf_datasets_cache/token_list.txt");
    }
    void accountsOfAddressesAreHidden()
    {
        QFETCH(const QByteArray, text);
        QFETCH(const QByteArray, shown);
        QCOMPARE(QByteArray::fromStdString(withoutSecrets(text.toStdString())), shown);
    }

    void strangersSawHalfOfASignature()
    {
        QCOMPARE(redacted("signature=ab/cd+ef== sig: Zm/9v config=x"),
            std::string("signature=<hidden> sig: <hidden> config=x"));
        QCOMPARE(redacted("secret = \"a/b%2Fc\", designs=1"), std::string("secret = \"<hidden>\", designs=1"));
    }

    /// The word before the secret was hidden, or nothing: logs in a bundle told them.
    void headersAndOptionsTheSecretsOfWhichAreNoTokens()
    {
        QCOMPARE(redacted("X-Api-Key: abc"), std::string("X-Api-Key: <hidden>"));
        QCOMPARE(redacted("Proxy-Authorization: Basic YW5u"), std::string("Proxy-Authorization: Basic <hidden>"));
        QCOMPARE(
            redacted("passphrase: open, AccountKey=abc=="), std::string("passphrase: <hidden>, AccountKey=<hidden>"));
        QCOMPARE(redacted("curl --password open host"), std::string("curl --password <hidden> host"));
        QCOMPARE(redacted("a basic password is long"), std::string("a basic password is long"));
    }

    /// Each address looked for its '@' to the end of the text.
    void aLongTextTookMinutes()
    {
        for (const char* part : { "x://u:p", "//u:p", "x://u:p@h/", "ab:(", "ab:/u:p", "ab:[", "?sig=1", "&sig",
                 "bearer ", "token=", "sk-", "=", "//", "s3//", "ab//", "git/", "git/u:p" }) {
            std::string text;
            while (text.size() < 4'000'000)
                text += part;
            QElapsedTimer timer;
            timer.start();
            (void)withoutSecrets(text);
            QVERIFY2(timer.elapsed() < 20'000, part);
            (void)holdsSecret(text);
            QVERIFY2(timer.elapsed() < 40'000, part);
        }
    }

    void aSettingHeldWhatTheEnvironmentKeepsSecret()
    {
        qputenv("FURROW_TEST_TOKEN", "tok-0123456789");
        qputenv("FURROW_TEST_URL", "https://ann:geheimnis@host/x");
        qputenv("FURROW_TEST_PASSWORD", "kurz");
        qputenv("FURROW_TEST_NAME", "a-name-that-all-may-know");
        QCOMPARE(variableOfSecretIn("my run tok-0123456789!", secretVariables()), std::string("FURROW_TEST_TOKEN"));
        QCOMPARE(variableOfSecretIn("geheimnis", secretVariables()), std::string("FURROW_TEST_URL"));
        for (const char* text : { "", "tok-012345678", "kurz", "a-name-that-all-may-know", "host" })
            QVERIFY2(variableOfSecretIn(text, secretVariables()).empty(), text);
        for (const char* name : { "FURROW_TEST_TOKEN", "FURROW_TEST_URL", "FURROW_TEST_PASSWORD", "FURROW_TEST_NAME" })
            qunsetenv(name);
    }

    void aSecretIsHiddenWhereverItStands()
    {
        const Secret secret("S3cr3t-of-the-test");
        QCOMPARE(withoutSecrets("aS3cr3t-of-the-testb"), std::string("a<hidden>b"));
        QVERIFY(redacted("x S3cr3t-of-the-test").find("S3cr3t") == std::string::npos);
    }

    /// They reached run.json by the name of a run and its prompt.
    void aTokenInAWordIsSeen()
    {
        for (const char* text : { "my hf_AbCdEfGhIjKlMnOpQrStUvWxYz01234567", "sk-proj-Ab1Cd2Ef3Gh4Ij5Kl6Mn",
                 "go to https://u:geheim@h/x", "Bearer abc123" })
            QVERIFY2(holdsSecret(text), text);
        for (const char* text : { "hf_dataset_2024_part1.parquet", "sk-learn-examples",
                 "ROMEO:", "read https://h/x?page=3", "/data/u@v:w/x", "eyJ" })
            QVERIFY2(!holdsSecret(text), text);
    }

    /// The words were cut at blanks alone, so that "X|hf_..." and "r-hf_..." were kept.
    void aTokenBesideASignWasKept()
    {
        for (const char* text :
            { "pattern X|hf_AbCdEfGhIjKlMnOpQrStUvWxYz01234567", "pattern \\bhf_AbCdEfGhIjKlMnOpQrStUvWxYz01234567\\b",
                "/home/ann/runs/r-hf_AbCdEfGhIjKlMnOpQrStUvWxYz01234567", "[ghp_AbCdEfGhIjKlMnOpQrSt12]" })
            QVERIFY2(holdsSecret(text), text);
        for (const char* text : { "pattern hf_[A-Za-z0-9]{34}", "pattern X|sk-[a-z0-9]{20,}", "/data/hf_cache/r-1",
                 "task-1a2b3c4d5e6f7a8b9c0d", "pattern Bearer [A-Za-z0-9]+", "The bearer of this letter" })
            QVERIFY2(!holdsSecret(text), text);
    }

    /// A prompt kept it, while --cause of a token was refused.
    void aPasswordWithItsNameWasKept()
    {
        for (const char* text : { "password=SECRETpw99 hi", "pattern password=SECRETZ1", "the passphrase: open4me2",
                 "{\"api_key\": \"a1b2c3d4\"}", "curl --password open4me2 host",
                 "AccountKey=aB/cD+ef==", "secret='CorrectHorse'" })
            QVERIFY2(holdsSecret(text), text);
        for (const char* text : { "The password: ", "Password: Swordfish", "password", "What is a secret? Say 12 words",
                 "pattern password=\\S+", "pattern (?i)password\\s*=\\s*[a-z0-9]{6,}1", "pattern secret: [0-9]+abc",
                 "def login(user, password=None):", "token=AutoTokenizer.from_pretrained('x')", "token=100257",
                 "password=$MY_PASSWORD_1", "max_tokens=4096k16", "designature 1a2b3c4d" })
            QVERIFY2(!holdsSecret(text), text);
    }

    void aPasswordBeforeAHostWithoutASchemeWasShown()
    {
        QCOMPARE(missingNameShown("ann:PASSw0rd@host/x.txt"), std::string("ann:<hidden>@host/x.txt"));
        QCOMPARE(missingNameShown("u:PASSw0rd@host"), std::string("u:<hidden>@host"));
        QCOMPARE(missingNameShown("/home/ann/bob:PASS/w0@rd@host"), std::string("/home/ann/bob:<hidden>@host"));
        for (const char* name : { "a.txt", "C:/data/a@b", "a@b:c", "12:30.txt", "a:@b", "a" })
            QCOMPARE(missingNameShown(name), std::string(name));
    }

    void accountsAreTakenApart()
    {
        QCOMPARE(withoutAccount("http://a:b@h/x").account, std::string("a:b"));
        QCOMPARE(withoutAccount("http://a:b@h/x").address, std::string("http://h/x"));
        QCOMPARE(withoutAccount("http://h/x@y").address, std::string("http://h/x@y"));
        QCOMPARE(withoutAccount("https://user:p/a:ss@host/x").account, std::string("user:p/a:ss"));
        QCOMPARE(withoutAccount("https://user:p/a:ss@host/x").address, std::string("https://host/x"));
        QCOMPARE(withoutAccount("plain@text").account, std::string());
    }

    void anAddressIsKeptWithoutWhatOpensIt()
    {
        QCOMPARE(publicAddress("https://ann:pw@host/a.txt?download=1"), std::string("https://host/a.txt?download=1"));
        QCOMPARE(publicAddress("https://b.host/a.txt?X-Amz-Date=1&X-Amz-Signature=ab12&X-Amz-Expires=60"),
            std::string("https://b.host/a.txt"));
        QCOMPARE(publicAddress("https://host/a.txt?sv=2&sig=Zm%2F9"), std::string("https://host/a.txt"));
        QCOMPARE(publicAddress("https://host/a?design=1"), std::string("https://host/a?design=1"));
        for (const char* opened :
            { "https://host/a.txt?key=S3cr3t", "https://host/a.txt?S3cr3tS", "https://host/a.txt#access_token=x",
                "https://ann@host/a.txt?jwt=eyJx&raw=1", "https://host/a.txt;jsessionid=1F" })
            QCOMPARE(publicAddress(opened), std::string("https://host/a.txt"));
        const std::string hidden = publicAddress("https://host/hf_AbCdEfGhIjKlMnOpQrStUvWxYz01234567/a.txt");
        QCOMPARE(hidden, std::string("https://host/<hidden>/a.txt"));
        QCOMPARE(publicAddress(hidden), hidden);
        QCOMPARE(publicAddress("s3://bucket/a;b#c.txt"), std::string("s3://bucket/a;b#c.txt"));
        QCOMPARE(publicAddress("/home/ann/a?b=c.txt"), std::string("/home/ann/a?b=c.txt"));
    }

    /// None of their names ends in one of the usual words.
    void trainersInheritedSecretsOfOtherNames()
    {
        for (const char* name : { "GITHUB_PAT", "AZURE_STORAGE_CONNECTION_STRING", "NPM_CONFIG__AUTH", "CREDS",
                 "GPG_PIN", "AWS_ACCESS_KEY_ID", "MYSQL_PWD" })
            QVERIFY2(isSecretVariable(name, "x"), name);
        QVERIFY(isSecretVariable("MINE", "ghp_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789"));
        QVERIFY(isSecretVariable("STORE", "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=aB3d/eF==;"));
    }

    void variablesWithSecretsAreKnown()
    {
        for (const char* name :
            { "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "WANDB_API_KEY", "PGPASSWORD" })
            QVERIFY2(isSecretVariable(name, "x"), name);
        QVERIFY(isSecretVariable("https_proxy", "http://u:p@proxy:8080"));
        QVERIFY(!isSecretVariable("SSH_AUTH_SOCK", "/tmp/ssh-1/agent.2"));
        QVERIFY(!isSecretVariable("OLDPWD", "/home/ann") && !isSecretVariable("PWD", "/home/ann"));
        QVERIFY(isSecretVariable("SOURCE", "https://host/a?Expires=1&Signature=ab"));
        for (const char* name :
            { "PATH", "HF_HOME", "TOKENIZERS_PARALLELISM", "CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH" })
            QVERIFY2(!isSecretVariable(name, "/usr/bin:/bin"), name);
        QVERIFY(!isSecretVariable("https_proxy", "http://proxy:8080"));
    }
};

QTEST_GUILESS_MAIN(TestRedact)
#include "tst_redact.moc"
