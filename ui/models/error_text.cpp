#include "ui/models/error_text.h"

#include "core/base/denied.h"
#include "core/base/redact.h"
#include "ui/models/core_words.h"

#include <QCoreApplication>

namespace furrow {

QString errorText(const Error& error)
{
    const QString said = coreWords(messageWithoutSecrets(error.message));
    const auto with
        = [&said](const QString& kind) { return QCoreApplication::translate("ErrorText", "%1 %2").arg(kind, said); };
    switch (error.code) {
    case ErrorCode::NotFound: return with(QCoreApplication::translate("ErrorText", "Something is missing."));
    case ErrorCode::Corrupt: return with(QCoreApplication::translate("ErrorText", "A file is damaged."));
    case ErrorCode::Io:
        return with(isForRights(error.message) ? QCoreApplication::translate("ErrorText", "Not allowed.")
                                               : QCoreApplication::translate("ErrorText", "Disk error."));
    case ErrorCode::Network: return with(QCoreApplication::translate("ErrorText", "Network error."));
    case ErrorCode::Busy: return with(QCoreApplication::translate("ErrorText", "Another process is using it."));
    case ErrorCode::Cancelled: return with(QCoreApplication::translate("ErrorText", "Cancelled."));
    case ErrorCode::InvalidArgument: return said;
    case ErrorCode::Internal: return with(QCoreApplication::translate("ErrorText", "This is a bug in Furrow."));
    }
    return said;
}

} // namespace furrow
