#pragma once

#include <QString>

namespace furrow {

/// The furrowctl that lies beside this program.
QString furrowctlProgram();

} // namespace furrow
