// SHA-256 by the system's own library (CNG), so that Windows needs no OpenSSL.
#include "core/base/check.h"
#include "core/base/format.h"
#include "core/base/hash.h"
#include "core/base/windows_api.h"

#include <bcrypt.h>

#include <algorithm>

namespace furrow {
namespace {

BCRYPT_ALG_HANDLE sha256Algorithm()
{
    static const BCRYPT_ALG_HANDLE algorithm = [] {
        BCRYPT_ALG_HANDLE opened = nullptr;
        FURROW_CHECK(BCRYPT_SUCCESS(::BCryptOpenAlgorithmProvider(&opened, BCRYPT_SHA256_ALGORITHM, nullptr, 0)),
            "Windows offers no SHA-256");
        return opened;
    }();
    return algorithm;
}

} // namespace

struct Sha256::Context {
    BCRYPT_HASH_HANDLE hash = nullptr;
    ~Context() { ::BCryptDestroyHash(hash); }
};

Sha256::Sha256()
    : context_(std::make_unique<Context>())
{
    FURROW_CHECK(BCRYPT_SUCCESS(::BCryptCreateHash(sha256Algorithm(), &context_->hash, nullptr, 0, nullptr, 0, 0)),
        "SHA-256 cannot start");
}

Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(const void* data, std::size_t sizeBytes)
{
    auto* from = static_cast<UCHAR*>(const_cast<void*>(data)); // the call only reads
    while (sizeBytes > 0) {
        const auto part = static_cast<ULONG>(std::min<std::size_t>(sizeBytes, 1U << 30));
        FURROW_CHECK(BCRYPT_SUCCESS(::BCryptHashData(context_->hash, from, part, 0)), "SHA-256 update failed");
        from += part;
        sizeBytes -= part;
    }
}

std::string Sha256::hex()
{
    std::array<UCHAR, 32> bytes {};
    FURROW_CHECK(BCRYPT_SUCCESS(::BCryptFinishHash(context_->hash, bytes.data(), 32, 0)), "SHA-256 failed");
    return hexOf({ reinterpret_cast<const char*>(bytes.data()), bytes.size() });
}

} // namespace furrow
