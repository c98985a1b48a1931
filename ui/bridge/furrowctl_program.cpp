#include "ui/bridge/furrowctl_program.h"

#include "core/base/path.h"
#include "core/base/process.h"

namespace furrow {

QString furrowctlProgram()
{
    auto path = executablePath().parent_path() / "furrowctl";
    path += executablePath().extension();
    return QString::fromStdString(utf8Text(path));
}

} // namespace furrow
