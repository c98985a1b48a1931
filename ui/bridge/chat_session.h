#pragma once

#include "core/base/message.h"
#include "ui/bridge/json_lines.h"
#include "ui/bridge/sampling_choices.h"

#include <QList>
#include <QObject>
#include <QPair>
#include <QProcess>

namespace furrow {

/// Whom a talk is with.
struct ChatPlace {
    QString folder; ///< of a run
    QString checkpoint; ///< folder name below checkpoints/; empty: the newest, also when it changes
    QString device; ///< "cpu" or the UUID of a GPU

    bool operator==(const ChatPlace&) const = default;
};

/// What is known of one token of an answer.
struct ChatToken {
    QString text; ///< what can be shown of it, empty while a character needs more tokens
    double probability = 0; ///< by the model alone
    QList<QPair<QString, double>> likeliest; ///< likeliest first
};

struct ChatAnswer {
    qint64 tokens = 0;
    double tokensPerSecond = 0;
    bool ended = false; ///< by the model itself
    QString unknownCharacters; ///< of what was said, for which the tokenizer has nothing
};

/// The weights that answer from now on.
struct ChatWeights {
    QString checkpoint;
    qint64 step = 0;
    Message whose; ///< "replica 1's own weights: ..."; empty for a chosen checkpoint
    bool hasFormat = false; ///< the model has a chat format
};

/// A talk with one model: a `furrowctl chat --json` in a process of its own, so that training and console are left
/// alone. Lives on the GUI thread.
class ChatSession : public QObject {
    Q_OBJECT
public:
    explicit ChatSession(QObject* parent = nullptr);
    ~ChatSession() override;

    /// Ends the talk before; loading the weights takes as long as it takes. What is said meanwhile is answered then.
    void open(const ChatPlace& place);
    void close();
    const ChatPlace& place() const { return place_; }
    bool isOpen() const { return process_.state() != QProcess::NotRunning; }
    bool isAnswering() const { return isAnswering_; }

    void say(const QString& text, const SamplingChoices& choices);
    void stopAnswer();
    void forget();

Q_SIGNALS:
    void weightsTaken(const furrow::ChatWeights& weights);
    void wrote(const furrow::ChatToken& token);
    void answered(const furrow::ChatAnswer& answer);
    /// Nothing is answered to what was said; the talk goes on.
    void refused(const furrow::Message& why);
    void ended(const furrow::Message& why); ///< the process is gone, and nobody closed it

private:
    void write(const QJsonObject& request);
    void take(const QJsonObject& line);
    void end();

    QProcess process_;
    ChatPlace place_;
    JsonLines lines_;
    Message problem_; ///< what the process said of its end
    bool isAnswering_ = false;
};

} // namespace furrow
