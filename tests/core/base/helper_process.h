#pragma once

#include "core/base/clock.h"
#include "core/base/file_system.h"
#include "core/base/process.h"

#include <QtTest>

#include <sstream>

/// Starting process_helper (tests/platform) and waiting for the files it writes.
namespace furrow::test {

inline std::filesystem::path helperPath() { return executablePath().parent_path() / "process_helper"; }

inline Result<ChildProcess> startHelper(std::vector<std::string> arguments)
{
    return ChildProcess::start(helperPath(), { std::move(arguments), {}, {}, {} });
}

/// The text of a file once it exists; "" when it does not appear within ten seconds.
inline std::string waitForFile(const std::filesystem::path& path)
{
    QElapsedTimer timer;
    timer.start();
    while (timer.elapsed() < 10'000) {
        if (const auto text = readFile(path); text.ok())
            return text.value();
        QTest::qWait(5);
    }
    return {};
}

/// "pid startTime" as process_helper writes it.
inline ProcessIdentity identityFrom(const std::string& text)
{
    ProcessIdentity identity;
    std::istringstream(text) >> identity.pid >> identity.startTime;
    identity.place = processPlace();
    return identity;
}

inline std::filesystem::path inFolder(const QTemporaryDir& folder, const char* name)
{
    return std::filesystem::path(folder.path().toStdString()) / name;
}

} // namespace furrow::test
