#pragma once

#include <QByteArray>
#include <QByteArrayList>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QList>
#include <QSet>

/// What /proc says of processes. Linux only.
namespace processFacts {

inline QByteArray file(qint64 pid, const char* name)
{
    QFile file(QStringLiteral("/proc/%1/%2").arg(pid).arg(QLatin1String(name)));
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

/// NUL between the words.
inline QByteArray commandLine(qint64 pid) { return file(pid, "cmdline"); }
inline QByteArray environment(qint64 pid) { return file(pid, "environ"); }

inline QList<qint64> childrenOf(qint64 parent)
{
    QList<qint64> children;
    const auto entries = QDir(QStringLiteral("/proc")).entryList(QDir::Dirs);
    for (const QString& entry : entries) {
        bool isPid = false;
        const qint64 pid = entry.toLongLong(&isPid);
        const QByteArray stat = isPid ? file(pid, "stat") : QByteArray();
        const auto afterName = stat.mid(stat.lastIndexOf(')') + 2).split(' '); // state, parent
        if (afterName.size() > 1 && afterName[1].toLongLong() == parent)
            children.append(pid);
    }
    return children;
}

/// Local addresses, as /proc/net/tcp writes them ("0100007F:1F90"), of the sockets on which these processes listen.
inline QByteArrayList listeningAddresses(const QList<qint64>& pids)
{
    QSet<QByteArray> inodes;
    for (const qint64 pid : pids) {
        const auto links = QDir(QStringLiteral("/proc/%1/fd").arg(pid))
                               .entryInfoList(QDir::NoDotAndDotDot | QDir::AllEntries | QDir::System | QDir::Hidden);
        for (const QFileInfo& link : links) {
            const QString target = QFile::symLinkTarget(link.filePath()).section(QLatin1Char('/'), -1);
            if (target.startsWith(QLatin1String("socket:[")))
                inodes.insert(target.mid(8).chopped(1).toLatin1());
        }
    }
    QByteArrayList addresses;
    for (const char* table : { "/proc/net/tcp", "/proc/net/tcp6" }) {
        QFile file(QString::fromLatin1(table));
        if (!file.open(QIODevice::ReadOnly))
            continue;
        const auto lines = file.readAll().split('\n');
        for (const QByteArray& line : lines) {
            const auto words = line.simplified().split(' ');
            constexpr int kAddress = 1, kState = 3, kInode = 9;
            if (words.size() > kInode && words[kState] == "0A" && inodes.contains(words[kInode]))
                addresses.append(words[kAddress]);
        }
    }
    return addresses;
}

} // namespace processFacts
