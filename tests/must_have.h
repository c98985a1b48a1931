#pragma once

#include <QByteArray>
#include <QByteArrayList>
#include <QTest>

namespace furrow::test {

/// Whether this machine and build are known to have `what`: it stands in FURROW_MUST_HAVE, which CTest sets
/// (tests/CMakeLists.txt). A test that is started by hand knows of nothing.
inline bool mustHave(const char* what) { return qgetenv("FURROW_MUST_HAVE").split(',').contains(QByteArray(what)); }

} // namespace furrow::test

/// Skips a test function that lacks `what`, with a sentence that says so. It fails instead where `what` must be there:
/// then the test looked in a wrong place, or what it found is broken. It returns, so it stands in the function itself.
#define SKIP_WITHOUT(what, isThere, sentence)              \
    do {                                                   \
        if (isThere)                                       \
            break;                                         \
        QVERIFY2(!furrow::test::mustHave(what), sentence); \
        QSKIP(sentence);                                   \
    } while (false)
