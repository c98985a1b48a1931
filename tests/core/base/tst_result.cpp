#include "core/base/caught.h"
#include "core/base/result.h"

#include <QtTest>

#include <memory>
#include <system_error>

using namespace furrow;

namespace {

Result<int> half(int value)
{
    if (value % 2 != 0)
        return Error { ErrorCode::InvalidArgument, std::to_string(value) + " is odd" };
    return value / 2;
}

} // namespace

class TestResult : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void holdsAValue()
    {
        const auto result = half(8);
        QVERIFY(result.ok());
        QCOMPARE(result.value(), 4);
    }

    void holdsAnError()
    {
        const auto result = half(7);
        QVERIFY(!result.ok());
        QCOMPARE(result.error().code, ErrorCode::InvalidArgument);
        QCOMPARE(result.error().message, std::string("7 is odd"));
    }

    void contextKeepsTheCode()
    {
        const Error error = half(7).error().in("halving");
        QCOMPARE(error.code, ErrorCode::InvalidArgument);
        QCOMPARE(error.message, std::string("halving: 7 is odd"));
    }

    void movesAMoveOnlyValueOut()
    {
        Result<std::unique_ptr<int>> result(std::make_unique<int>(5));
        const std::unique_ptr<int> taken = std::move(result).value();
        QCOMPARE(*taken, 5);
    }

    void valueCanBeChangedInPlace()
    {
        auto result = half(8);
        result.value() += 1;
        QCOMPARE(result.value(), 5);
    }

    /// "Resource temporarily unavailable" was all that a person read.
    void aThreadThatCouldNotBeMadeWasAResource()
    {
        const auto error = caught(std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again)));
        QVERIFY2(
            error.message.find("a thread could not be made (Resource temporarily unavailable): the limits on memory "
                               "(ulimit -v)")
                == 0,
            error.message.c_str());
        QCOMPARE(std::string(caught(std::runtime_error("torn")).message), std::string("torn"));
    }

    void emptyStatusIsSuccess()
    {
        QVERIFY(Status().ok());
        const Status failed = Error { ErrorCode::Busy, "taken" };
        QVERIFY(!failed.ok());
        QCOMPARE(failed.error().code, ErrorCode::Busy);
    }
};

QTEST_GUILESS_MAIN(TestResult)
#include "tst_result.moc"
