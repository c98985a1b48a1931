// SHA-256 by OpenSSL. On Windows the system's own library does it (hash_windows.cpp).
#include "core/base/check.h"
#include "core/base/format.h"
#include "core/base/hash.h"

#include <openssl/evp.h>

namespace furrow {

struct Sha256::Context {
    struct Free {
        void operator()(EVP_MD_CTX* digest) const noexcept { EVP_MD_CTX_free(digest); }
    };
    std::unique_ptr<EVP_MD_CTX, Free> digest { EVP_MD_CTX_new() };
};

Sha256::Sha256()
    : context_(std::make_unique<Context>())
{
    FURROW_CHECK(context_->digest && EVP_DigestInit_ex(context_->digest.get(), EVP_sha256(), nullptr),
        "OpenSSL offers no SHA-256");
}

Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(const void* data, std::size_t sizeBytes)
{
    FURROW_CHECK(EVP_DigestUpdate(context_->digest.get(), data, sizeBytes), "SHA-256 update failed");
}

std::string Sha256::hex()
{
    std::array<unsigned char, 32> bytes {};
    FURROW_CHECK(EVP_DigestFinal_ex(context_->digest.get(), bytes.data(), nullptr), "SHA-256 failed");
    return hexOf({ reinterpret_cast<const char*>(bytes.data()), bytes.size() });
}

} // namespace furrow
