#include "ui/models/quarantine_draft.h"

#include "core/base/file_system.h"
#include "core/base/path.h"
#include "core/base/sentence.h"
#include "core/data/plan/quarantine.h"
#include "ui/models/core_words.h"

#include <QDir>

namespace furrow {

namespace {

QString folderOf(const QString& workspace) { return workspace + QStringLiteral("/quarantine"); }

bool isPlainName(const QString& name)
{
    return !name.isEmpty() && !name.startsWith(QLatin1Char('.')) && !name.contains(QLatin1Char('/'))
        && !name.contains(QLatin1Char('\\'));
}

} // namespace

QuarantineDraft::QuarantineDraft(QObject* parent)
    : QObject(parent)
{
}

void QuarantineDraft::setText(const QString& text)
{
    if (text == text_)
        return;
    text_ = text;
    samples_.clear();
    chunks_ = 0;
    problem_ = {};
    const auto parsed = Quarantine::parse(text.toStdString());
    if (parsed.ok())
        chunks_ = parsed.value()->chunks().size();
    else
        problem_ = parsed.error().message;
    const QStringList lines = text.split(QLatin1Char('\n'));
    for (const QString& line : lines) {
        bool isHex = false;
        const quint64 fingerprint = line.trimmed().startsWith(QLatin1String("sample "))
            ? line.trimmed().mid(7).trimmed().toULongLong(&isHex, 16)
            : 0;
        if (isHex)
            samples_.insert(fingerprint);
    }
    Q_EMIT changed();
}

QString QuarantineDraft::problem() const { return problem_.empty() ? QString() : coreWords(problem_); }

void QuarantineDraft::addLines(const QStringList& lines, const QString& comment)
{
    const QStringList before = text_.split(QLatin1Char('\n'));
    QString text = text_;
    bool first = true;
    for (const QString& line : lines) {
        if (before.contains(line))
            continue;
        if (!text.isEmpty() && !text.endsWith(QLatin1Char('\n')))
            text += QLatin1Char('\n');
        if (first && !comment.isEmpty())
            text += QStringLiteral("# %1\n").arg(comment.simplified());
        first = false;
        text += line + QLatin1Char('\n');
    }
    setText(text);
}

void QuarantineDraft::addChunks(const std::vector<SelectedChunk>& chunks, const QString& reason)
{
    QStringList lines;
    for (const SelectedChunk& chunk : chunks)
        lines.append(QStringLiteral("chunk %1:%2").arg(chunk.block).arg(chunk.column));
    addLines(lines, reason);
}

void QuarantineDraft::addSample(quint64 fingerprint)
{
    if (!has(fingerprint))
        addLines({ QStringLiteral("sample %1").arg(fingerprint, 16, 16, QLatin1Char('0')) }, {});
}

void QuarantineDraft::setWorkspace(const QString& workspace)
{
    workspace_ = workspace;
    name_.clear();
    savedText_.clear();
    setText({});
    if (const QStringList names = saved(); !names.isEmpty())
        (void)load(
            names.front()); // one that cannot be read stays empty here, and is not written over under another name
}

QStringList QuarantineDraft::saved() const
{
    QStringList names = QDir(folderOf(workspace_)).entryList({ QStringLiteral("*.txt") }, QDir::Files, QDir::Name);
    for (QString& name : names)
        name.chop(4);
    return names;
}

QString QuarantineDraft::fileOf(const QString& name) const
{
    return QStringLiteral("%1/%2.txt").arg(folderOf(workspace_), name);
}

Status QuarantineDraft::load(const QString& name)
{
    FURROW_TRY_ASSIGN(const auto text, readQuarantineFile(fileOf(name).toStdString()));
    name_ = name;
    savedText_ = QString::fromStdString(text);
    setText(savedText_);
    return {};
}

Status QuarantineDraft::save(const QString& name)
{
    if (!isPlainName(name))
        return Error { ErrorCode::InvalidArgument,
            sentence("quarantine list \"%1\": a name must not be empty, begin with a dot or contain a slash",
                { name.toStdString() }) };
    if (!problem_.empty())
        return Error { ErrorCode::InvalidArgument, problem_ };
    FURROW_TRY(realFileSystem().createFolders(pathFromUtf8(folderOf(workspace_).toStdString())));
    auto written = writeFileDurably(realFileSystem(), pathFromUtf8(fileOf(name).toStdString()), text_.toStdString());
    if (written.ok()) {
        name_ = name;
        savedText_ = text_;
    }
    return written;
}

} // namespace furrow
