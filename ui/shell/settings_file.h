#pragma once

#include "core/base/message.h"

#include <QString>

namespace furrow {

/// Looks at the settings files of this user before anything reads them: QSettings would wait for ever for the other end
/// of a named pipe. Where one is no regular file, settings are kept in `instead` from then on.
/// @return which file, and what that means; "": all are usable
Message keepSettingsReadable(const QString& instead);

} // namespace furrow
