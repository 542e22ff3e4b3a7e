// See cloud_init.hpp.
#include "launcher/plan/cloud_init.hpp"

#include <cstdint>
#include <map>

#include "launcher/plan/iso9660.hpp"

namespace berth::launcher {
namespace {

constexpr std::string_view kSecretsDir = "/var/run/kubevirt-private/secret/";

Result<std::string> plain_or_base64(const std::string& plain, const std::string& encoded) {
    if (!plain.empty() || encoded.empty()) return plain;
    return from_base64(encoded);
}

}  // namespace

Result<std::string> from_base64(std::string_view text) {
    constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    std::uint32_t bits = 0;
    int count = 0;
    for (const char c : text) {
        if (c == '=' || c == '\n' || c == '\r') continue;
        const std::size_t value = kAlphabet.find(c);
        if (value == kAlphabet.npos)
            return fail(ErrorKind::invalid, "not base64: encode the text again with base64 -w0");
        bits = bits << 6 | static_cast<std::uint32_t>(value);
        count += 6;
        if (count >= 8) {
            count -= 8;
            out += static_cast<char>(bits >> count & 0xff);
        }
    }
    return out;
}

Result<Seed> seed_of(const api::VirtualMachineInstance& vmi, const api::VmVolume& volume) {
    Seed out;
    out.is_config_drive = volume.cloud_init_config_drive.has_value();
    const api::CloudInitSource& source =
        out.is_config_drive ? *volume.cloud_init_config_drive : *volume.cloud_init_no_cloud;
    out.instance_id = vmi.metadata.name + "." + vmi.metadata.ns;
    out.hostname = vmi.spec.hostname.empty() ? vmi.metadata.name.substr(0, vmi.metadata.name.find('.')).substr(0, 63)
                                             : vmi.spec.hostname;
    const std::string where = "volume \"" + volume.name + "\"";
    auto user_data = plain_or_base64(source.user_data, source.user_data_base64);
    if (!user_data) return within(where + ": userDataBase64", std::move(user_data).error());
    auto network_data = plain_or_base64(source.network_data, source.network_data_base64);
    if (!network_data) return within(where + ": networkDataBase64", std::move(network_data).error());
    out.user_data = *std::move(user_data);
    out.network_data = *std::move(network_data);
    if (source.secret_ref.is_object()) out.user_data_folder = std::string(kSecretsDir) + volume.name + "-udata";
    if (source.network_data_secret_ref.is_object())
        out.network_data_folder = std::string(kSecretsDir) + volume.name + "-ndata";
    return out;
}

std::string seed_image(const Seed& seed) {
    std::map<std::string, std::string> files;
    if (seed.is_config_drive) {
        const json::Object meta = {
            {"uuid",     seed.instance_id},
            {"hostname", seed.hostname   }
        };
        files["openstack/latest/meta_data.json"] = json::print(json::Value(meta));
        files["openstack/latest/user_data"] = seed.user_data;
        if (!seed.network_data.empty()) files["openstack/latest/network_data.json"] = seed.network_data;
        return iso9660("config-2", files);
    }
    const json::Object meta = {
        {"instance-id",    seed.instance_id},
        {"local-hostname", seed.hostname   }
    };
    files["meta-data"] = json::print(json::Value(meta));
    files["user-data"] = seed.user_data;
    if (!seed.network_data.empty()) files["network-config"] = seed.network_data;
    return iso9660("cidata", files);
}

}  // namespace berth::launcher
