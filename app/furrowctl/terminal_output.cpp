#include "app/furrowctl/terminal_output.h"

#include "core/base/process.h"
#include "core/base/terminal.h"

#include <cstdlib>
#include <iostream>
#include <streambuf>
#include <string_view>

namespace furrow::ctl {

namespace {

/// Hands on to the buffer of a terminal what it may get.
class ProtectedBuffer : public std::streambuf {
public:
    explicit ProtectedBuffer(std::streambuf* terminal)
        : terminal_(terminal)
    {
    }
    std::streambuf* terminal() const { return terminal_; }

protected:
    std::streamsize xsputn(const char* text, std::streamsize size) override
    {
        const std::string passed = text_.next({ text, static_cast<std::size_t>(size) });
        const auto length = static_cast<std::streamsize>(passed.size());
        return terminal_->sputn(passed.data(), length) == length ? size : 0;
    }
    int_type overflow(int_type character) override
    {
        if (traits_type::eq_int_type(character, traits_type::eof()))
            return traits_type::not_eof(character);
        const char c = traits_type::to_char_type(character);
        return xsputn(&c, 1) == 1 ? character : traits_type::eof();
    }
    int sync() override { return terminal_->pubsync(); }

private:
    std::streambuf* terminal_;
    TerminalText text_;
};

std::string_view variable(const char* name)
{
    const char* value = std::getenv(name);
    return value ? value : "";
}

std::ostream& sent(std::ostream& stream, const char* sequence)
{
    if (canBeDim(stream))
        std::ostream(static_cast<ProtectedBuffer*>(stream.rdbuf())->terminal()) << sequence;
    return stream;
}

} // namespace

void protectTerminal()
{
    // never destroyed: the streams are flushed after main
    if (outputIsTerminal())
        std::cout.rdbuf(new ProtectedBuffer(std::cout.rdbuf()));
    if (errorsAreOnTerminal())
        std::cerr.rdbuf(new ProtectedBuffer(std::cerr.rdbuf()));
}

bool canBeDim(const std::ostream& stream)
{
    return dynamic_cast<const ProtectedBuffer*>(stream.rdbuf()) && variable("NO_COLOR").empty()
        && variable("TERM") != "dumb";
}

std::ostream& dim(std::ostream& stream) { return sent(stream, "\x1b[2m"); }
std::ostream& plain(std::ostream& stream) { return sent(stream, "\x1b[22m"); }

std::ostream& clearLine(std::ostream& stream)
{
    const auto* guarded = dynamic_cast<ProtectedBuffer*>(stream.rdbuf());
    std::ostream direct(guarded ? guarded->terminal() : stream.rdbuf());
    direct << "\r\x1b[2K";
    return stream;
}

} // namespace furrow::ctl
