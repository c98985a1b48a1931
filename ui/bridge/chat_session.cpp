#include "ui/bridge/chat_session.h"

#include "ui/bridge/answer_message.h"
#include "ui/bridge/furrowctl_program.h"

#include <QJsonArray>
#include <QJsonDocument>

namespace furrow {

namespace {

ChatToken tokenOf(const QJsonObject& told)
{
    ChatToken token { told.value(QLatin1String("text")).toString(), told.value(QLatin1String("probability")).toDouble(),
        {} };
    for (const auto& chance : told.value(QLatin1String("likeliest")).toArray())
        token.likeliest.append({ chance.toArray().at(0).toString(), chance.toArray().at(1).toDouble() });
    return token;
}

ChatWeights weightsOf(const QJsonObject& told)
{
    ChatWeights weights;
    weights.checkpoint = told.value(QLatin1String("checkpoint")).toString();
    weights.step = told.value(QLatin1String("step")).toInteger();
    weights.whose = answeredMessage(told.value(QLatin1String("whose")).toObject(), "text");
    weights.hasFormat = told.value(QLatin1String("chat_format")).toBool();
    return weights;
}

} // namespace

ChatSession::ChatSession(QObject* parent)
    : QObject(parent)
{
    connect(&process_, &QProcess::readyReadStandardOutput, this, [this] {
        for (const auto& line : lines_.take(process_.readAllStandardOutput()))
            take(line);
    });
    connect(&process_, &QProcess::finished, this, &ChatSession::end);
    connect(&process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart)
            end();
    });
}

ChatSession::~ChatSession() { close(); }

void ChatSession::open(const ChatPlace& place)
{
    close();
    place_ = place;
    QStringList arguments { QStringLiteral("chat"), place.folder, QStringLiteral("--json"), QStringLiteral("--device"),
        place.device.isEmpty() ? QStringLiteral("cpu") : place.device };
    if (!place.checkpoint.isEmpty())
        arguments += { QStringLiteral("--checkpoint"), place.checkpoint };
    process_.start(furrowctlProgram(), arguments);
}

void ChatSession::close()
{
    const QSignalBlocker quiet(process_);
    if (isOpen()) {
        process_.kill(); // its worker sees the end of its input
        process_.waitForFinished();
    }
    lines_.forget();
    problem_ = {};
    isAnswering_ = false;
}

void ChatSession::say(const QString& text, const SamplingChoices& choices)
{
    isAnswering_ = true;
    write({ { QStringLiteral("say"), text }, { QStringLiteral("tokens"), choices.tokens },
        { QStringLiteral("temperature"), choices.temperature }, { QStringLiteral("top_k"), choices.topK },
        { QStringLiteral("seed"), choices.seed } });
}

void ChatSession::stopAnswer()
{
    if (isAnswering_)
        write({ { QStringLiteral("stop"), true } });
}

void ChatSession::forget() { write({ { QStringLiteral("forget"), true } }); }

void ChatSession::write(const QJsonObject& request)
{
    if (isOpen())
        process_.write(QJsonDocument(request).toJson(QJsonDocument::Compact) + '\n');
}

void ChatSession::take(const QJsonObject& line)
{
    if (line.contains(QLatin1String("weights")) && !line.contains(QLatin1String("turns"))) {
        Q_EMIT weightsTaken(weightsOf(line.value(QLatin1String("weights")).toObject()));
    } else if (line.contains(QLatin1String("token"))) {
        Q_EMIT wrote(tokenOf(line.value(QLatin1String("token")).toObject()));
    } else if (line.contains(QLatin1String("answer"))) {
        isAnswering_ = false;
        const auto told = line.value(QLatin1String("answer")).toObject();
        Q_EMIT answered({ told.value(QLatin1String("tokens")).toInteger(),
            told.value(QLatin1String("tokens_per_s")).toDouble(), told.value(QLatin1String("ended")).toBool(),
            told.value(QLatin1String("unknown_characters")).toString() });
    } else if (line.contains(QLatin1String("error"))) {
        problem_ = answeredMessage(line, "error");
        isAnswering_ = false;
        Q_EMIT refused(problem_);
    }
}

void ChatSession::end()
{
    isAnswering_ = false;
    Message why = problem_;
    if (why.empty())
        why = QString::fromUtf8(process_.readAllStandardError()).trimmed().section(QLatin1Char('\n'), -1).toStdString();
    if (why.empty())
        why = tr("%1 ended: %2.").arg(furrowctlProgram(), process_.errorString()).toStdString();
    Q_EMIT ended(why);
}

} // namespace furrow
