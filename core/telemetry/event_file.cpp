// TensorBoard's event files: TFRecord framing around protocol buffers, both written by hand. Numbers are little-endian.

#include "core/telemetry/export.h"

#include "core/base/file_system.h"
#include "core/base/little_endian.h"

#include <array>
#include <bit>
#include <optional>

namespace furrow {

namespace {

constexpr std::size_t kBufferBytes = 1 << 20;

/// CRC-32C (Castagnoli), reflected polynomial 0x82F63B78.
std::uint32_t crc32c(std::string_view bytes)
{
    static const auto table = [] {
        std::array<std::uint32_t, 256> made {};
        for (std::uint32_t i = 0; i < 256; ++i) {
            std::uint32_t c = i;
            for (int bit = 0; bit < 8; ++bit)
                c = (c >> 1) ^ ((c & 1) != 0 ? 0x82F63B78U : 0U);
            made[i] = c;
        }
        return made;
    }();
    std::uint32_t crc = 0xFFFFFFFFU;
    for (const char byte : bytes)
        crc = table[(crc ^ static_cast<unsigned char>(byte)) & 0xFFU] ^ (crc >> 8);
    return crc ^ 0xFFFFFFFFU;
}

void appendVarint(std::string& out, std::uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        out += static_cast<char>((value & 0x7FU) | 0x80U);
    out += static_cast<char>(value);
}

// Wire types of protocol buffers: 0 varint, 1 eight bytes, 2 length-delimited, 5 four bytes.
void appendKey(std::string& out, std::uint32_t field, std::uint32_t type) { appendVarint(out, (field << 3) | type); }

void appendBytes(std::string& out, std::uint32_t field, std::string_view bytes)
{
    appendKey(out, field, 2);
    appendVarint(out, bytes.size());
    out += bytes;
}

void appendDouble(std::string& out, std::uint32_t field, double value)
{
    appendKey(out, field, 1);
    appendLittleEndian(out, std::bit_cast<std::uint64_t>(value));
}

/// Length, its checksum, the data, its checksum; checksums rotated and shifted as TFRecord wants.
void appendRecord(std::string& out, std::string_view data)
{
    const auto masked = [](std::string_view bytes) {
        const std::uint32_t crc = crc32c(bytes);
        return ((crc >> 15) | (crc << 17)) + 0xA282EAD8U;
    };
    std::string length;
    appendLittleEndian(length, static_cast<std::uint64_t>(data.size()));
    out += length;
    appendLittleEndian(out, masked(length));
    out += data;
    appendLittleEndian(out, masked(data));
}

} // namespace

struct EventFileWriter::State {
    std::unique_ptr<OutputFile> file;
    std::string buffer;
    std::optional<Error> failed;

    void flush()
    {
        if (!failed)
            if (auto written = file->append(buffer.data(), buffer.size()); !written.ok())
                failed = written.error();
        buffer.clear();
    }
};

EventFileWriter::EventFileWriter(std::unique_ptr<State> state)
    : state_(std::move(state))
{
}
EventFileWriter::EventFileWriter(EventFileWriter&&) noexcept = default;
EventFileWriter::~EventFileWriter() = default;

Result<EventFileWriter> EventFileWriter::create(const std::filesystem::path& path, double wall)
{
    FURROW_TRY_ASSIGN(auto file, realFileSystem().create(path));
    auto state = std::make_unique<State>();
    state->file = std::move(file);
    std::string event;
    appendDouble(event, 1, wall);
    appendBytes(event, 3, "brain.Event:2"); // file_version
    appendRecord(state->buffer, event);
    return EventFileWriter(std::move(state));
}

void EventFileWriter::scalar(double wall, std::int64_t step, const std::string& tag, double value)
{
    std::string one; // Summary.Value
    appendBytes(one, 1, tag);
    appendKey(one, 2, 5);
    appendLittleEndian(one, std::bit_cast<std::uint32_t>(static_cast<float>(value)));
    std::string summary;
    appendBytes(summary, 1, one);
    std::string event;
    appendDouble(event, 1, wall);
    appendKey(event, 2, 0);
    appendVarint(event, static_cast<std::uint64_t>(step));
    appendBytes(event, 5, summary);
    appendRecord(state_->buffer, event);
    if (state_->buffer.size() > kBufferBytes)
        state_->flush();
}

Status EventFileWriter::finish()
{
    state_->flush();
    if (state_->failed)
        return *state_->failed;
    FURROW_TRY(state_->file->sync());
    return state_->file->close();
}

} // namespace furrow
