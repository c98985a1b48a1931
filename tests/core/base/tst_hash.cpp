#include "helper_process.h"

#include "core/base/git_blob.h"
#include "core/base/hash.h"

using namespace furrow;

class TestHash : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void sha256MatchesPublishedVectors_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QString>("digest");
        // NIST FIPS 180-4 examples
        QTest::newRow("empty") << QByteArray() << "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        QTest::newRow("abc") << QByteArray("abc") << "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        QTest::newRow("448 bits") << QByteArray("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")
                                  << "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1";
        QTest::newRow("a million a") << QByteArray(1000000, 'a')
                                     << "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";
    }
    void sha256MatchesPublishedVectors()
    {
        QFETCH(QByteArray, bytes);
        QTEST(QString::fromStdString(sha256Hex(bytes.toStdString())), "digest");
    }

    void namesContentAsGitDoes_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QString>("name");
        // git hash-object
        QTest::newRow("empty") << QByteArray() << "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";
        QTest::newRow("abc") << QByteArray("abc\n") << "8baef1b4abc478178b004d62031cf7fe6db6f903";
        QTest::newRow("1,000 x") << QByteArray(1000, 'x') << "14c7dfdd4258dec5c0e9d2e919bd249bd674be1f";
        QTest::newRow("no room for the length") << QByteArray(55, 'y') << "765a02dab1ce651b756db82ba2ed4f7c9d440d83";
        QTest::newRow("several blocks") << QByteArray(119, 'z') << "38e209781d602b2aa48f36af8cacdd1b6e4a6ff6";
    }
    void namesContentAsGitDoes()
    {
        QFETCH(QByteArray, bytes);
        GitBlobName name(static_cast<std::uint64_t>(bytes.size()));
        for (const char byte : bytes) // in pieces
            name.update(std::string_view(&byte, 1));
        const std::string digits = name.hex();
        QVERIFY(isGitName(digits));
        QTEST(QString::fromStdString(digits), "name");
    }

    void piecesGiveTheSameDigest()
    {
        Sha256 hash;
        hash.update("a");
        Sha256 moved = std::move(hash);
        moved.update("b");
        moved.update("");
        moved.update("c");
        QCOMPARE(moved.hex(), sha256Hex("abc"));
    }

    void hashesAFileLargerThanOnePiece()
    {
        const QTemporaryDir folder;
        const std::string bytes(3'000'001, 'q');
        const auto path = test::inFolder(folder, "large");
        QVERIFY(writeFileDurably(realFileSystem(), path, bytes).ok());
        QCOMPARE(sha256File(path).value(), sha256Hex(bytes));
    }

    void aFileIsNotReadToItsEndWhenNobodyWaits()
    {
        const QTemporaryDir folder;
        const auto path = test::inFolder(folder, "large");
        QVERIFY(writeFileDurably(realFileSystem(), path, std::string(3'000'001, 'q')).ok());
        std::stop_source stopping;
        QVERIFY(sha256File(path, stopping.get_token()).ok());
        stopping.request_stop();
        QCOMPARE(sha256File(path, stopping.get_token()).error().code, ErrorCode::Cancelled);
    }

    void missingFileIsAnError() { QCOMPARE(sha256File("/nowhere/at/all").error().code, ErrorCode::NotFound); }

    void xxh3MatchesTheReference()
    {
        // xxHash 0.8: XXH3_64bits of these inputs (xxhsum -H3)
        QCOMPARE(xxh3(""), std::uint64_t(0x2D06800538D394C2));
        QCOMPARE(xxh3("abc"), std::uint64_t(0x78AF5F94892F3950));
        QVERIFY(xxh3("abc", 1) != xxh3("abc"));
        QCOMPARE(xxh3("abc", 0), xxh3("abc"));
    }
};

QTEST_GUILESS_MAIN(TestHash)
#include "tst_hash.moc"
