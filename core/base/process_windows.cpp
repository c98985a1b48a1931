// A child runs in a job object of its own, which ends with everything the child started. The job does not die with
// our handle: when we are killed, the child must see its stdin end and be able to write a checkpoint first.
#include "core/base/process.h"

#include "core/base/clock.h"
#include "core/base/path.h"
#include "core/base/process_tree.h"
#include "core/base/redact.h"
#include "core/base/regular_file.h"
#include "core/base/sentence.h"
#include "core/base/system_error.h"
#include "core/base/windows_api.h"

#include <algorithm>
#include <cwctype>
#include <map>
#include <vector>

namespace furrow {
namespace {

constexpr UINT kKilled = 137;

/// Quotes as CommandLineToArgvW and the C runtime undo it: backslashes count only before a quote.
std::wstring quoted(const std::wstring& argument)
{
    if (!argument.empty() && argument.find_first_of(L" \t\n\v\"") == std::wstring::npos)
        return argument;
    std::wstring text = L"\"";
    std::size_t backslashes = 0;
    for (const wchar_t letter : argument) {
        if (letter == L'\\') {
            ++backslashes;
            continue;
        }
        text.append(letter == L'"' ? backslashes * 2 + 1 : backslashes, L'\\');
        backslashes = 0;
        text += letter;
    }
    text.append(backslashes * 2, L'\\');
    return text + L"\"";
}

std::wstring commandLine(const std::filesystem::path& program, const std::vector<std::string>& arguments)
{
    std::wstring line = quoted(program.wstring());
    for (const std::string& argument : arguments)
        line += L" " + quoted(wideText(argument));
    return line;
}

struct IgnoringCase {
    bool operator()(const std::wstring& left, const std::wstring& right) const
    {
        return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end(),
            [](wchar_t a, wchar_t b) { return std::towupper(a) < std::towupper(b); });
    }
};

/// Ours with the given ones, sorted without case as CreateProcess wants it.
std::wstring environmentBlock(const ProcessOptions& options)
{
    std::map<std::wstring, std::wstring, IgnoringCase> variables;
    wchar_t* ours = ::GetEnvironmentStringsW();
    for (const wchar_t* at = ours; *at != 0;) {
        const std::wstring line = at;
        const std::size_t equals = line.find(L'=', 1); // "=C:=C:\x" is a variable too
        const std::wstring name = line.substr(0, equals);
        const std::wstring value = equals == std::wstring::npos ? L"" : line.substr(equals + 1);
        if (options.withSecrets || !isSecretVariable(utf8Text(name), utf8Text(value)))
            variables[name] = value;
        at += line.size() + 1;
    }
    ::FreeEnvironmentStringsW(ours);
    for (const auto& [name, value] : options.environment)
        variables[wideText(name)] = wideText(value);
    std::wstring block;
    for (const auto& [name, value] : variables)
        block += name + L"=" + value + L'\0';
    return block + L'\0';
}

WindowsHandle openInheritable(const wchar_t* name, DWORD access)
{
    SECURITY_ATTRIBUTES inherit { sizeof inherit, nullptr, TRUE };
    return WindowsHandle(::CreateFileW(name, access, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, &inherit,
        OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr));
}

WindowsHandle inheritableCopy(HANDLE of)
{
    HANDLE copy = nullptr;
    ::DuplicateHandle(::GetCurrentProcess(), of, ::GetCurrentProcess(), &copy, 0, TRUE, DUPLICATE_SAME_ACCESS);
    return WindowsHandle(copy);
}

/// What a new process gets as standard files. Only these three are inherited.
struct StandardFiles {
    WindowsHandle input;
    WindowsHandle output;
    WindowsHandle error;
};

Result<StandardFiles> standardFiles(WindowsHandle input, const ProcessOptions& options, bool inheritOutput)
{
    StandardFiles files;
    files.input = std::move(input);
    if (!options.outputFile.empty()) {
        FURROW_TRY_ASSIGN(const auto file, RegularFile::open(options.outputFile, RegularFile::At::End));
        files.output = inheritableCopy(reinterpret_cast<HANDLE>(file.handle()));
        files.error = inheritableCopy(files.output.get());
        return files;
    }
    if (inheritOutput) {
        files.output = inheritableCopy(::GetStdHandle(STD_OUTPUT_HANDLE));
        files.error = inheritableCopy(::GetStdHandle(STD_ERROR_HANDLE));
    }
    if (!files.output)
        files.output = openInheritable(L"NUL", GENERIC_WRITE);
    if (!files.error)
        files.error = openInheritable(L"NUL", GENERIC_WRITE);
    return files;
}

struct NewProcess {
    WindowsHandle process;
    WindowsHandle thread;
    ProcessIdentity identity;
};

Result<NewProcess> createProcess(
    const std::filesystem::path& program, const ProcessOptions& options, const StandardFiles& files, DWORD flags)
{
    std::vector<HANDLE> inherited { files.input.get(), files.output.get(), files.error.get() };
    SIZE_T listBytes = 0;
    ::InitializeProcThreadAttributeList(nullptr, 1, 0, &listBytes);
    std::vector<std::byte> list(listBytes);
    STARTUPINFOEXW startup {};
    startup.StartupInfo.cb = sizeof startup;
    startup.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
    startup.StartupInfo.hStdInput = files.input.get();
    startup.StartupInfo.hStdOutput = files.output.get();
    startup.StartupInfo.hStdError = files.error.get();
    startup.lpAttributeList = reinterpret_cast<LPPROC_THREAD_ATTRIBUTE_LIST>(list.data());
    ::InitializeProcThreadAttributeList(startup.lpAttributeList, 1, 0, &listBytes);
    ::UpdateProcThreadAttribute(startup.lpAttributeList, 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, inherited.data(),
        inherited.size() * sizeof(HANDLE), nullptr, nullptr);

    std::wstring line = commandLine(program, options.arguments);
    std::wstring environment = environmentBlock(options);
    const std::wstring folder = options.workingFolder.wstring();
    PROCESS_INFORMATION made {};
    const BOOL started = ::CreateProcessW(program.wstring().c_str(), line.data(), nullptr, nullptr, TRUE,
        flags | CREATE_NEW_PROCESS_GROUP | CREATE_UNICODE_ENVIRONMENT | EXTENDED_STARTUPINFO_PRESENT,
        environment.data(), folder.empty() ? nullptr : folder.c_str(), &startup.StartupInfo, &made);
    const DWORD failed = started ? 0 : ::GetLastError();
    ::DeleteProcThreadAttributeList(startup.lpAttributeList);
    if (failed != 0)
        return systemError(sentence("cannot start %1", { utf8Text(program) }), static_cast<int>(failed));
    const auto pid = static_cast<std::int64_t>(made.dwProcessId);
    return NewProcess { WindowsHandle(made.hProcess), WindowsHandle(made.hThread),
        { pid, startTimeOf(pid), processPlace() } };
}

/// As CreateProcess finds it: with ".exe" when the name has no extension.
std::filesystem::path programFile(std::filesystem::path program)
{
    if (!program.has_extension())
        program += ".exe";
    return program;
}

WindowsHandle makeJob()
{
    WindowsHandle job(::CreateJobObjectW(nullptr, nullptr));
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits {};
    limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_BREAKAWAY_OK; // for startDetached
    ::SetInformationJobObject(job.get(), JobObjectExtendedLimitInformation, &limits, sizeof limits);
    return job;
}

DWORD windowFlags(const ProcessOptions& options)
{
    // A console program started from a window would open a black one.
    return options.outputFile.empty() && ::GetConsoleWindow() ? 0 : CREATE_NO_WINDOW;
}

} // namespace

struct ChildProcess::State {
    ProcessIdentity identity;
    WindowsHandle process;
    WindowsHandle job;
    WindowsHandle stdinWriter;
    std::optional<ProcessExit> exit;

    void killTree() const
    {
        ::TerminateJobObject(job.get(), kKilled);
        ::TerminateProcess(process.get(), kKilled); // when it could not be put in the job
    }
    ~State()
    {
        killTree();
        ::WaitForSingleObject(process.get(), 5000);
    }
};

ChildProcess::ChildProcess(std::unique_ptr<State> state)
    : state_(std::move(state))
{
}
ChildProcess::ChildProcess(ChildProcess&&) noexcept = default;
ChildProcess& ChildProcess::operator=(ChildProcess&&) noexcept = default;
ChildProcess::~ChildProcess() = default;

Result<ChildProcess> ChildProcess::start(const std::filesystem::path& program, const ProcessOptions& options)
{
    HANDLE reader = nullptr;
    HANDLE writer = nullptr;
    if (!::CreatePipe(&reader, &writer, nullptr, 0))
        return systemError(sentence("cannot start %1", { utf8Text(program) }), static_cast<int>(::GetLastError()));
    const WindowsHandle closeReader(reader);
    auto state = std::make_unique<State>();
    state->stdinWriter = WindowsHandle(writer);
    FURROW_TRY_ASSIGN(auto files, standardFiles(inheritableCopy(reader), options, true));
    FURROW_TRY_ASSIGN(
        auto made, createProcess(programFile(program), options, files, CREATE_SUSPENDED | windowFlags(options)));
    state->identity = made.identity;
    state->process = std::move(made.process);
    state->job = makeJob();
    ::AssignProcessToJobObject(state->job.get(), state->process.get());
    ::ResumeThread(made.thread.get());
    return ChildProcess(std::move(state));
}

Status ChildProcess::writeInput(std::string_view bytes)
{
    while (!bytes.empty()) {
        DWORD wrote = 0;
        if (!::WriteFile(state_->stdinWriter.get(), bytes.data(),
                static_cast<DWORD>(std::min<std::size_t>(bytes.size(), 1 << 16)), &wrote, nullptr))
            return Error { ErrorCode::Io, sentence("the process does not read its input") };
        bytes.remove_prefix(wrote);
    }
    return {};
}

void ChildProcess::closeInput() { state_->stdinWriter.reset(); }

const ProcessIdentity& ChildProcess::identity() const { return state_->identity; }

std::optional<ProcessExit> ChildProcess::poll() { return wait(std::chrono::milliseconds(0)); }

std::optional<ProcessExit> ChildProcess::wait(std::chrono::milliseconds timeout)
{
    const auto limit = std::clamp<std::int64_t>(timeout.count(), 0, INFINITE - 1);
    if (!state_->exit && ::WaitForSingleObject(state_->process.get(), static_cast<DWORD>(limit)) == WAIT_OBJECT_0) {
        DWORD code = 0;
        ::GetExitCodeProcess(state_->process.get(), &code);
        state_->exit = ProcessExit { static_cast<int>(code), 0, false };
    }
    return state_->exit;
}

void ChildProcess::requestStop()
{
    const WindowsHandle event(::OpenEventW(
        EVENT_MODIFY_STATE, FALSE, stopEventName(state_->identity.pid, state_->identity.startTime).c_str()));
    if (event)
        ::SetEvent(event.get());
    else
        state_->stdinWriter.reset();
}

void ChildProcess::killTree() { state_->killTree(); }

Result<ProcessIdentity> startDetached(const std::filesystem::path& program, const ProcessOptions& options)
{
    FURROW_TRY_ASSIGN(auto files, standardFiles(openInheritable(L"NUL", GENERIC_READ), options, false));
    // Out of the job of whoever starts us; a job that forbids it keeps the process, which is the best there is.
    auto made = createProcess(programFile(program), options, files, CREATE_NO_WINDOW | CREATE_BREAKAWAY_FROM_JOB);
    if (!made.ok())
        made = createProcess(programFile(program), options, files, CREATE_NO_WINDOW);
    if (!made.ok())
        return made.error();
    return made.value().identity;
}

} // namespace furrow
