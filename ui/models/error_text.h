#pragma once

#include "core/base/result.h"

#include <QString>

namespace furrow {

/// An error as a person should read it: what kind of trouble in their language, then what the engine said about it.
QString errorText(const Error& error);

} // namespace furrow
