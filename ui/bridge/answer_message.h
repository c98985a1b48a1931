#pragma once

#include "core/base/message.h"

#include <QJsonObject>

namespace furrow {

/// A sentence that a program of ours answered: its English text under `key`, what it is made of under "message".
Message answeredMessage(const QJsonObject& answer, const char* key);

} // namespace furrow
