#include "core/base/caught.h"

#include "core/base/sentence.h"

#include <system_error>

namespace furrow {

Error caught(const std::exception& exception)
{
    const auto* system = dynamic_cast<const std::system_error*>(&exception);
    if (system != nullptr && system->code() == std::errc::resource_unavailable_try_again)
        return { ErrorCode::Internal,
            sentence(
                "a thread could not be made (%1): the limits on memory (ulimit -v) and on processes and threads (ulimit -u) leave no room for one. Raise them, or use fewer workers and threads.",
                { exception.what() }) };
    return { ErrorCode::Internal, exception.what() };
}

} // namespace furrow
