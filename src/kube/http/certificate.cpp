// Certificates with OpenSSL: made, signed, judged. Which ones an installation keeps is in pki.cpp.
#include <array>
#include <memory>

#include <arpa/inet.h>

#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include "base/check.hpp"
#include "kube/http/pki.hpp"

namespace berth::kube::http {
namespace {

using std::chrono::days;

constexpr days kAuthorityValid(3650);
constexpr days kLeafValid(365);
constexpr days kRenewBefore(30);
constexpr std::chrono::minutes kSkew(5);  // clocks of clients may be behind ours

template <auto kFree>
struct Free {
    template <class T>
    void operator()(T* pointer) const {
        kFree(pointer);
    }
};
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Free<X509_free>>;
using Bio = std::unique_ptr<BIO, Free<BIO_free>>;

Bio reader(const std::string& pem) { return Bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()))); }

std::string text_of(const Bio& bio) {
    char* data = nullptr;
    const long size = BIO_get_mem_data(bio.get(), &data);
    return {data, static_cast<std::size_t>(size)};
}

Certificate read_certificate(const std::string& pem) {
    Certificate certificate(PEM_read_bio_X509(reader(pem).get(), nullptr, nullptr, nullptr));
    ERR_clear_error();
    return certificate;
}

Key read_key(const std::string& pem) {
    Key key(PEM_read_bio_PrivateKey(reader(pem).get(), nullptr, nullptr, nullptr));
    ERR_clear_error();
    return key;
}

std::string print(const Certificate& certificate) {
    const Bio bio(BIO_new(BIO_s_mem()));
    CHECK(PEM_write_bio_X509(bio.get(), certificate.get()) == 1);
    return text_of(bio);
}

std::string print(const Key& key) {
    const Bio bio(BIO_new(BIO_s_mem()));
    CHECK(PEM_write_bio_PKCS8PrivateKey(bio.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1);
    return text_of(bio);
}

std::time_t seconds_of(Timestamp at) { return std::chrono::floor<std::chrono::seconds>(at).time_since_epoch().count(); }

bool is_ip(const std::string& name) {
    std::array<unsigned char, sizeof(in6_addr)> bytes{};
    return inet_pton(AF_INET, name.c_str(), bytes.data()) == 1 || inet_pton(AF_INET6, name.c_str(), bytes.data()) == 1;
}

// OpenSSL reads the list as a small language: a name must not be able to say more than a name.
bool is_plain(const std::string& name) {
    constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._*:";
    return !name.empty() && name.find_first_not_of(kPlain) == std::string::npos && (is_ip(name) || !name.contains(':'));
}

std::string alternative_names(const std::vector<std::string>& names) {
    std::string list;
    for (const std::string& name : names) {
        if (!list.empty()) list += ',';
        list += (is_ip(name) ? "IP:" : "DNS:") + name;
    }
    return list;
}

void add_extension(X509* certificate, X509* issuer, int nid, const std::string& value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
    CHECK(extension != nullptr);
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
}

void add_name(X509_NAME* name, const char* field, const std::string& text) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
    X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8, bytes, static_cast<int>(text.size()), -1, 0);
}

// What all three have: serial, validity, subject, key.
Certificate blank(const Subject& subject, EVP_PKEY* key, Timestamp now, days valid) {
    Certificate certificate(X509_new());
    X509_set_version(certificate.get(), X509_VERSION_3);
    std::array<unsigned char, 16> serial{};
    CHECK(RAND_bytes(serial.data(), serial.size()) == 1);
    serial[0] &= 0x7f;  // serials are positive
    BIGNUM* const number = BN_bin2bn(serial.data(), serial.size(), nullptr);
    BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate.get()));
    BN_free(number);
    ASN1_TIME_set(X509_getm_notBefore(certificate.get()), seconds_of(now - kSkew));
    ASN1_TIME_set(X509_getm_notAfter(certificate.get()), seconds_of(now + valid));
    X509_NAME* const name = X509_get_subject_name(certificate.get());
    for (const std::string& organization : subject.organizations) add_name(name, "O", organization);
    add_name(name, "CN", subject.common_name);
    X509_set_pubkey(certificate.get(), key);
    return certificate;
}

bool has_names(X509* certificate, const std::vector<std::string>& names) {
    return std::ranges::all_of(names, [&](const std::string& name) {
        if (is_ip(name)) return X509_check_ip_asc(certificate, name.c_str(), 0) == 1;
        return X509_check_host(certificate, name.data(), name.size(), 0, nullptr) == 1;
    });
}

}  // namespace

KeyPair make_authority(Timestamp now) {
    const Key key(EVP_EC_gen("prime256v1"));
    CHECK(key != nullptr);
    const Subject subject{.common_name = "berth-ca"};
    const Certificate certificate = blank(subject, key.get(), now, kAuthorityValid);
    X509_set_issuer_name(certificate.get(), X509_get_subject_name(certificate.get()));
    add_extension(certificate.get(), certificate.get(), NID_basic_constraints, "critical,CA:TRUE");
    add_extension(certificate.get(), certificate.get(), NID_key_usage, "critical,digitalSignature,keyCertSign,cRLSign");
    add_extension(certificate.get(), certificate.get(), NID_subject_key_identifier, "hash");
    CHECK(X509_sign(certificate.get(), key.get(), EVP_sha256()) != 0);
    return {print(certificate), print(key)};
}

Result<KeyPair> issue(const KeyPair& authority, const Subject& subject, Timestamp now) {
    const Certificate issuer = read_certificate(authority.certificate_pem);
    const Key issuer_key = read_key(authority.key_pem);
    if (!issuer || !issuer_key)
        return fail(ErrorKind::invalid, "the certificate authority is not PEM: remove its files");
    for (const std::string& name : subject.names) {
        if (!is_plain(name)) return fail(ErrorKind::invalid, "\"" + name + "\" is neither a host name nor an address");
    }
    const Key key(EVP_EC_gen("prime256v1"));
    CHECK(key != nullptr);
    const Certificate certificate = blank(subject, key.get(), now, kLeafValid);
    X509_set_issuer_name(certificate.get(), X509_get_subject_name(issuer.get()));
    const bool is_server = !subject.names.empty();
    add_extension(certificate.get(), issuer.get(), NID_basic_constraints, "critical,CA:FALSE");
    add_extension(certificate.get(), issuer.get(), NID_key_usage, "critical,digitalSignature");
    add_extension(certificate.get(), issuer.get(), NID_ext_key_usage, is_server ? "serverAuth" : "clientAuth");
    add_extension(certificate.get(), issuer.get(), NID_authority_key_identifier, "keyid");
    if (is_server)
        add_extension(certificate.get(), issuer.get(), NID_subject_alt_name, alternative_names(subject.names));
    if (X509_sign(certificate.get(), issuer_key.get(), EVP_sha256()) == 0) {
        return fail(ErrorKind::invalid, "sign certificate: the authority's key is not usable: remove its files");
    }
    return KeyPair{print(certificate), print(key)};
}

bool is_good(const KeyPair& pair, const std::string& authority_pem, const Subject& subject, Timestamp now) {
    const Certificate certificate = read_certificate(pair.certificate_pem);
    const Certificate issuer = read_certificate(authority_pem);
    const Key key = read_key(pair.key_pem);
    if (!certificate || !issuer || !key) return false;
    if (X509_check_private_key(certificate.get(), key.get()) != 1) return false;
    if (X509_verify(certificate.get(), X509_get0_pubkey(issuer.get())) != 1) {
        ERR_clear_error();
        return false;
    }
    std::time_t last_use = seconds_of(now + kRenewBefore);
    return X509_cmp_time(X509_get0_notAfter(certificate.get()), &last_use) > 0 &&
           has_names(certificate.get(), subject.names);
}

}  // namespace berth::kube::http
