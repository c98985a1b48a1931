#include "ui/bridge/answer_message.h"

#include "core/config/message_json.h"

#include <QJsonDocument>

namespace furrow {

Message answeredMessage(const QJsonObject& answer, const char* key)
{
    const QByteArray parts = QJsonDocument(answer.value(QLatin1String("message")).toObject()).toJson();
    return messageOf(answer.value(QLatin1String(key)).toString().toStdString(), parts.toStdString());
}

} // namespace furrow
