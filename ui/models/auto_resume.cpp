#include "ui/models/auto_resume.h"

#include "ui/bridge/run_commands.h"

#include <QDateTime>
#include <QSettings>
#include <algorithm>

namespace furrow {

namespace {

constexpr int kWaits[] = { 20, 120, 600 }; // s: a crash that comes back at once must not come back a thousand times

QString settingsKey() { return QStringLiteral("auto_resume"); }

} // namespace

AutoResume::AutoResume(RunCommands& commands, QObject* parent)
    : QObject(parent)
    , commands_(commands)
{
    timer_.setInterval(1000);
    connect(&timer_, &QTimer::timeout, this, &AutoResume::second);
}

int AutoResume::waitSeconds(int number)
{
    return kWaits[std::clamp<std::size_t>(static_cast<std::size_t>(number), 1, std::size(kWaits)) - 1];
}

void AutoResume::remember()
{
    remembers_ = true;
    tries_ = QSettings().value(settingsKey()).toMap();
}

void AutoResume::write() const
{
    if (remembers_)
        QSettings().setValue(settingsKey(), tries_);
}

void AutoResume::setWanted(const QString& folder, bool wanted)
{
    if (wanted == isWanted(folder) || folder.isEmpty())
        return;
    if (wanted)
        tries_.insert(folder, 0);
    else
        tries_.remove(folder);
    waiting_.erase(folder);
    write();
    Q_EMIT wantedChanged(folder, wanted);
    Q_EMIT changed();
}

void AutoResume::cancel(const QString& folder)
{
    if (!isWanted(folder))
        return;
    tries_[folder] = 0;
    waiting_[folder].done = true;
    write();
    Q_EMIT changed();
}

void AutoResume::takeLines(const RunLines& lines)
{
    const qint64 now = QDateTime::currentMSecsSinceEpoch();
    for (const RunLine& line : lines) {
        if (!isWanted(line.folder))
            continue;
        const bool endedInOrder = line.state == RunState::Finished || line.state == RunState::Stopped;
        if (endedInOrder && (tries_.value(line.folder).toInt() > 0 || planOf(line.folder)))
            cancel(line.folder); // the next interruption is another story
        const int number = tries_.value(line.folder).toInt() + 1;
        if (line.state != RunState::Interrupted || number > kLimit)
            continue;
        Waiting& waiting = waiting_[line.folder];
        if (waiting.attempt == line.attempt)
            continue;
        waiting = { line.attempt, now + 1000 * waitSeconds(number), false };
        Q_EMIT changed();
    }
    if (!waiting_.empty() && !timer_.isActive())
        timer_.start();
}

std::optional<AutoResume::Plan> AutoResume::planOf(const QString& folder) const
{
    const auto waiting = waiting_.find(folder);
    if (waiting == waiting_.end() || waiting->second.done || !isWanted(folder))
        return std::nullopt;
    const qint64 left = waiting->second.dueMs - QDateTime::currentMSecsSinceEpoch();
    return Plan { static_cast<int>(std::max<qint64>(0, (left + 999) / 1000)), tries_.value(folder).toInt() + 1 };
}

void AutoResume::second()
{
    const qint64 now = QDateTime::currentMSecsSinceEpoch();
    bool open = false;
    for (auto& [folder, waiting] : waiting_) {
        if (waiting.done)
            continue;
        if (waiting.dueMs > now) {
            open = true;
            continue;
        }
        waiting.done = true;
        tries_[folder] = tries_.value(folder).toInt() + 1;
        write();
        commands_.resume(folder);
    }
    if (!open)
        timer_.stop();
    Q_EMIT changed();
}

} // namespace furrow
