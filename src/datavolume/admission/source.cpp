// Where the data of a DataVolume comes from. A source that is not served yet passes: its DataVolume then says so.
#include <algorithm>

#include "base/ascii.hpp"
#include "base/names.hpp"
#include "base/ranges.hpp"
#include "datavolume/admission/validate.hpp"

namespace berth::datavolume {
namespace {

using api::Cause;
using Causes = std::vector<Cause>;

struct Refusals {
    const std::string& field;
    Causes out = {};

    void add(std::string message, const std::string& part = "") {
        out.push_back({"FieldValueInvalid", std::move(message), field + part});
    }
    void add_fault(const std::string& prefix, const std::string& fault, const std::string& part) {
        if (!fault.empty()) add(prefix + fault, part);
    }
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// Bytes that a URL never has, and '%' without two hex digits behind it.
bool is_malformed(std::string_view url) {
    for (std::size_t i = 0; i < url.size(); ++i) {
        const auto byte = static_cast<unsigned char>(url[i]);
        if (byte <= ' ' || byte == 0x7f) return true;
        if (url[i] == '%' && (i + 2 >= url.size() || !is_hex(url[i + 1]) || !is_hex(url[i + 2]))) return true;
    }
    return false;
}

// host[:port] without what stands before '@'; an IPv6 address is in brackets.
bool is_host(std::string_view authority) {
    authority = authority.substr(authority.find('@') == std::string_view::npos ? 0 : authority.find('@') + 1);
    const std::size_t closing = authority.starts_with('[') ? authority.find(']') : 0;
    if (closing == std::string_view::npos) return false;
    const std::size_t colon = authority.find(':', closing);
    const std::string_view host = authority.substr(0, colon);
    if (host.empty() || host == "[]") return false;
    if (colon == std::string_view::npos) return true;
    const std::string_view port = authority.substr(colon + 1);
    constexpr std::size_t kDigitsMax = 5;
    return port.size() <= kDigitsMax && std::ranges::all_of(port, is_digit);
}

void check_name(Refusals& refusals, const std::string& name, const std::string& part) {
    if (name.empty() || is_dns_subdomain(name)) return;
    refusals.add("\"" + name + "\" is not a name: use lower case letters, digits, '-' and '.'", part);
}

void check_http(Refusals& refusals, const api::HttpSource& http) {
    refusals.add_fault("spec.source ", url_fault(http.url), ".source.http.url");
    refusals.add_fault("", checksum_fault(http.checksum), ".source.http.checksum");
    check_name(refusals, http.secret_ref, ".source.http.secretRef");
    check_name(refusals, http.cert_config_map, ".source.http.certConfigMap");
    for (std::size_t i = 0; i < http.extra_headers.size(); ++i) {
        const std::string& header = http.extra_headers[i];
        if (header.find(':') != std::string::npos && header.find_first_of("\r\n") == std::string::npos) continue;
        refusals.add(
            "Invalid header \"" + header + "\": write one line as name: value",
            ".source.http.extraHeaders[" + std::to_string(i) + "]"
        );
    }
    for (std::size_t i = 0; i < http.secret_extra_headers.size(); ++i) {
        check_name(
            refusals, http.secret_extra_headers[i], ".source.http.secretExtraHeaders[" + std::to_string(i) + "]"
        );
    }
}

bool is_set(const json::Value& value, std::string_view pointer) { return !json::text_at(value, pointer).empty(); }

void check_registry(Refusals& refusals, const json::Value& registry, const std::string& content) {
    const std::string url(json::text_at(registry, "/url"));
    const std::string method(json::text_at(registry, "/pullMethod"));
    const bool has_url = json::find(registry, "/url") != nullptr;
    const bool has_stream = json::find(registry, "/imageStream") != nullptr;
    if (content == "archive") {
        refusals.add("ContentType must be kubevirt when Source is Registry: remove spec.contentType", ".contentType");
    }
    if (has_url == has_stream)
        refusals.add("Source registry should have either URL or ImageStream", ".source.registry");
    if (has_url && !url.starts_with("docker:") && !url.starts_with("oci-archive:")) {
        refusals.add(
            "Illegal registry source URL scheme " + url.substr(0, url.find(':')) + ": use docker:// or oci-archive:",
            ".source.registry.url"
        );
    }
    if (!method.empty() && method != "pod" && method != "node") {
        refusals.add("ImportMethod " + method + " is neither pod, node or \"\"", ".source.registry.pullMethod");
    }
    if (has_stream && !is_set(registry, "/imageStream")) {
        refusals.add("spec.source.registry ImageStream is not valid: name the stream", ".source.registry.imageStream");
    }
    if (has_stream && method != "node") {
        refusals.add(
            "Source registry ImageStream is supported only with node pull import method", ".source.registry.pullMethod"
        );
    }
}

void check_imageio(Refusals& refusals, const json::Value& imageio) {
    refusals.add_fault("spec.source ", url_fault(std::string(json::text_at(imageio, "/url"))), ".source.imageio.url");
    if (!is_set(imageio, "/secretRef") || !is_set(imageio, "/diskId")) {
        refusals.add("spec.source source Imageio is not valid: set secretRef and diskId", ".source.imageio");
    }
    if (!is_set(imageio, "/certConfigMap") && !json::bool_at(imageio, "/insecureSkipVerify")) {
        refusals.add("spec.source source Imageio requires CertConfigMap or InsecureSkipVerify", ".source.imageio");
    }
}

void check_vddk(Refusals& refusals, const json::Value& vddk) {
    refusals.add_fault("spec.source ", url_fault(std::string(json::text_at(vddk, "/url"))), ".source.vddk.url");
    constexpr const char* kNeeded[] = {"/secretRef", "/uuid", "/backingFile", "/thumbprint"};
    if (std::ranges::all_of(kNeeded, [&](const char* at) { return is_set(vddk, at); })) return;
    refusals.add(
        "spec.source source VDDK is not valid: set secretRef, uuid, backingFile and thumbprint", ".source.vddk"
    );
}

void check_member(Refusals& refusals, const api::DataVolumeSource& source, const std::string& content) {
    if (source.http) check_http(refusals, *source.http);
    for (const auto& [member, name] : {std::pair(&source.s3, "s3"), std::pair(&source.gcs, "gcs")}) {
        if (member->is_null()) continue;
        const std::string at = std::string(".source.") + name + ".url";
        refusals.add_fault("spec.source ", url_fault(std::string(json::text_at(*member, "/url"))), at);
    }
    if (!source.blank.is_null() && content == "archive") {
        refusals.add(
            "SourceType cannot be blank and the contentType be archive: remove spec.contentType", ".source.blank"
        );
    }
    if (!source.registry.is_null()) check_registry(refusals, source.registry, content);
    if (!source.imageio.is_null()) check_imageio(refusals, source.imageio);
    if (!source.vddk.is_null()) check_vddk(refusals, source.vddk);
    if (source.pvc && (source.pvc->ns.empty() || source.pvc->name.empty())) {
        refusals.add("spec.source source PVC is not valid: set namespace and name", ".source.pvc");
    }
    if (source.snapshot && (source.snapshot->ns.empty() || source.snapshot->name.empty())) {
        refusals.add("spec.source source snapshot is not valid: set namespace and name", ".source.snapshot");
    }
}

void check_reference(Refusals& refusals, const api::SourceRef& reference) {
    if (reference.kind.empty()) {
        refusals.add("Missing sourceRef kind: use DataSource", ".sourceRef.kind");
    } else if (reference.kind != "DataSource") {
        refusals.add("Unsupported sourceRef kind " + reference.kind + ": use DataSource", ".sourceRef.kind");
    }
    if (reference.name.empty()) refusals.add("Missing sourceRef name", ".sourceRef.name");
}

bool has_data_source(const std::optional<api::ClaimSpec>& claim) {
    return claim && (claim->data_source || claim->data_source_ref);
}

}  // namespace

std::string url_fault(const std::string& url) {
    if (url.empty()) return "source URL is empty";
    const std::size_t colon = url.find("://");
    const std::string scheme = lower(url.substr(0, std::min(colon, url.size())));
    const bool is_path = url.starts_with('/');
    if (is_malformed(url) || (colon == std::string::npos && !is_path)) {
        return "Invalid source URL: " + url + ": write it as https://host/path, with %20 for a space";
    }
    constexpr std::string_view kSchemes[] = {"http", "https", "gs"};
    if (is_path || !contains(kSchemes, scheme)) {
        return "Invalid source URL scheme: " + url + ": use http or https";
    }
    const std::size_t begin = colon + 3;
    const std::size_t end = std::min(url.find_first_of("/?#", begin), url.size());
    if (is_host(std::string_view(url).substr(begin, end - begin))) return {};
    return "Invalid source URL: " + url + ": the host or its port is missing or wrong";
}

std::string checksum_fault(const std::string& checksum) {
    if (checksum.empty()) return {};
    struct Algorithm {
        std::string_view name;
        std::size_t digits;
    };
    constexpr Algorithm kAlgorithms[] = {
        {"md5",    32 },
        {"sha1",   40 },
        {"sha256", 64 },
        {"sha512", 128},
    };
    const std::string prefix = "Invalid checksum format: " + checksum + ": ";
    const std::size_t colon = checksum.find(':');
    const std::string name = lower(checksum.substr(0, std::min(colon, checksum.size())));
    const auto* known = std::ranges::find(kAlgorithms, name, &Algorithm::name);
    if (colon == std::string::npos || known == std::end(kAlgorithms)) {
        return prefix + "write md5, sha1, sha256 or sha512, a colon, and hex digits";
    }
    const std::string_view digits = std::string_view(checksum).substr(colon + 1);
    if (digits.size() == known->digits && std::ranges::all_of(digits, is_hex)) return {};
    return prefix + "a " + name + " has " + std::to_string(known->digits) + " hex digits";
}

Causes validate_source(const api::DataVolumeSpec& spec, const std::string& field) {
    Refusals refusals{field};
    const std::string& content = spec.content_type;
    if (!content.empty() && content != "kubevirt" && content != "archive") {
        refusals.add("ContentType not one of: kubevirt, archive: it is \"" + content + "\"", ".contentType");
    }
    const bool is_external = has_data_source(spec.pvc) || has_data_source(spec.storage);
    if (spec.source.has_value() == spec.source_ref.has_value() && (spec.source || !is_external)) {
        refusals.add("Data volume should have either Source or SourceRef, or be externally populated");
    }
    if (spec.source_ref) check_reference(refusals, *spec.source_ref);
    if (!spec.source) return std::move(refusals.out);
    const int count = spec.source->member_count();
    if (count == 0) refusals.add("Missing Data volume source: name one, such as http or blank", ".source");
    if (count > 1) refusals.add("Multiple Data volume sources: keep one", ".source");
    check_member(refusals, *spec.source, content);
    return std::move(refusals.out);
}

}  // namespace berth::datavolume
