// A simulated installation with the words that scenarios of attaching and detaching use.
#pragma once

#include "placement_world.hpp"

namespace berth::sim {

class AttachWorld : public PlacementWorld {
protected:
    /// A machine of its own, without a VM, on this node.
    void run_machine(const std::string& name = "web", const std::string& node = "n1") {
        const Result<kube::Document> made = world.create(
            R"({"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":")" + name +
            R"("},"spec":{"nodeSelector":{"kubernetes.io/hostname":")" + node +
            R"("},"domain":{"memory":{"guest":"256Mi"},"devices":{"disks":[{"name":"root","disk":{"bus":"virtio"}}]}},
               "volumes":[{"name":"root","emptyDisk":{"capacity":"1Gi"}}]}})"
        );
        ASSERT_TRUE(made.has_value()) << made.error().message;
        ASSERT_TRUE(world.until([&] { return vmi("/status/phase", name) == "Running"; }, 60s));
        world.run_for(2s);
    }
    void make_claim(const std::string& name, const std::string& mode = "Filesystem") {
        json::Value claim = *json::parse(claim_text(name));
        json::set(claim, "/spec/volumeMode", json::Value(mode));
        ASSERT_TRUE(world.create(std::move(claim)).has_value());
    }
    void make_disk(const std::string& name, const std::string& url, const std::string& annotations = "") {
        ASSERT_TRUE(
            world
                .create(
                    R"({"apiVersion":"cdi.kubevirt.io/v1beta1","kind":"DataVolume","metadata":{"name":")" + name +
                    R"(","annotations":{)" + annotations + R"(}},"spec":{"source":{"http":{"url":")" + url +
                    R"("}},"pvc":{"storageClassName":"local","accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}})"
                )
                .has_value()
        );
    }

    // --- what the API server does for addvolume and removevolume
    using Edit = std::function<void(json::Array& volumes, json::Array& disks)>;
    void edit(const std::string& machine, const Edit& change) {
        const auto found = world.get(api::kVmi, "default", machine);
        ASSERT_TRUE(found.has_value());
        json::Array volumes = json::find(**found, "/spec/volumes")->get_array();
        json::Array disks = json::find(**found, "/spec/domain/devices/disks")->get_array();
        change(volumes, disks);
        const json::Value patch = json::Object{
            {"spec",
             json::Object{
                 {"volumes", std::move(volumes)},
                 {"domain", json::Object{{"devices", json::Object{{"disks", std::move(disks)}}}}},
             }}
        };
        kube::Request request;
        request.method = "PATCH";
        request.path = "/apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances/" + machine;
        request.headers["content-type"] = "application/merge-patch+json";
        request.body = json::print(patch);
        request.user = {
            "system:serviceaccount:kubevirt:kubevirt-apiserver", {"system:masters", "system:authenticated"}
        };
        const kube::Response got = world.request(std::move(request));
        ASSERT_EQ(got.code, 200) << got.body;
    }
    static void append(json::Array& volumes, json::Array& disks, const std::string& name, json::Object source) {
        json::Object volume{
            {"name", name}
        };
        source["hotpluggable"] = true;
        volume[source.contains("claimName") ? "persistentVolumeClaim" : "dataVolume"] = std::move(source);
        volumes.push_back(std::move(volume));
        disks.push_back(json::Object{
            {"name", name                         },
            {"disk", json::Object{{"bus", "scsi"}}},
        });
    }
    static void erase(json::Array& list, const std::string& name) {
        for (auto it = list.begin(); it != list.end();) {
            it = json::text_at(*it, "/name") == name ? list.erase(it) : it + 1;
        }
    }
    void add(const std::string& volume, const std::string& claim, const std::string& machine = "web") {
        edit(machine, [&](json::Array& volumes, json::Array& disks) {
            append(
                volumes,
                disks,
                volume,
                {
                    {"claimName", claim}
            }
            );
        });
    }
    void add(const std::string& volume) { add(volume, volume); }
    void add_disk(const std::string& volume, const std::string& machine = "web") {
        edit(machine, [&](json::Array& volumes, json::Array& disks) {
            append(
                volumes,
                disks,
                volume,
                {
                    {"name", volume}
            }
            );
        });
    }
    void drop(const std::string& volume, const std::string& machine = "web") {
        edit(machine, [&](json::Array& volumes, json::Array& disks) {
            erase(volumes, volume);
            erase(disks, volume);
        });
    }

    // --- what is seen
    /// A field of vs(v); "" without the entry.
    std::string entry(const std::string& volume, std::string_view pointer, const std::string& machine = "web") {
        const auto found = world.get(api::kVmi, "default", machine);
        return found ? entry_of(**found, volume, pointer) : std::string();
    }
    static std::string entry_of(const json::Value& vmi, const std::string& volume, std::string_view pointer) {
        const json::Value* list = json::find(vmi, "/status/volumeStatus");
        if (list == nullptr) return {};
        for (const json::Value& one : list->get_array()) {
            if (json::text_at(one, "/name") == volume) return std::string(json::text_at(one, pointer));
        }
        return {};
    }
    std::string phase(const std::string& volume, const std::string& machine = "web") {
        return entry(volume, "/phase", machine);
    }
    /// The distinct phases of vs(v) from a point of the history on, in order; "-" = no entry.
    std::vector<std::string> phases(const std::string& volume, std::size_t from = 0) {
        std::vector<std::string> out;
        for (std::size_t i = from; i < world.history().size(); ++i) {
            const Seen& seen = world.history()[i];
            if (*seen.kind != api::kVmi) continue;
            std::string now =
                entry_of(*seen.object, volume, "/name").empty() ? "-" : entry_of(*seen.object, volume, "/phase");
            if (out.empty() || out.back() != now) out.push_back(std::move(now));
        }
        return out;
    }
    ::testing::AssertionResult is(
        const std::string& volume, const std::string& wanted, const std::string& machine = "web", Duration limit = 60s
    ) {
        if (world.until([&] { return phase(volume, machine) == wanted; }, limit)) return ::testing::AssertionSuccess();
        return ::testing::AssertionFailure() << volume << " of " << machine << " is " << phase(volume, machine) << ": "
                                             << entry(volume, "/message", machine) << ", not " << wanted;
    }
    static bool is_attachment(const json::Value& pod) {
        return json::text_at(pod, "/metadata/labels/kubevirt.io") == "hotplug-disk" &&
               json::text_at(pod, "/metadata/annotations/kubevirt.io~1ephemeral-provisioning").empty();
    }
    /// AP: attachment pods of a machine that are there now.
    std::vector<kube::Document> attachment_pods(const std::string& machine = "web") {
        std::vector<kube::Document> out;
        for (const kube::Document& pod : world.list(api::kPod)) {
            if (is_attachment(*pod) &&
                json::text_at(*pod, "/metadata/annotations/kubevirt.io~1owner-vmi-name") == machine) {
                out.push_back(pod);
            }
        }
        return out;
    }
    /// Attachment pods of all machines ever created.
    std::size_t created_pods() {
        return static_cast<std::size_t>(std::ranges::count_if(world.history(), [](const Seen& seen) {
            return *seen.kind == api::kPod && seen.type == "ADDED" && is_attachment(*seen.object);
        }));
    }
    static bool mentions(const json::Value& pod, const std::string& claim) {
        for (const json::Value& volume : json::find(pod, "/spec/volumes")->get_array()) {
            if (json::text_at(volume, "/persistentVolumeClaim/claimName") == claim) return true;
        }
        return false;
    }
    static bool runs(const json::Value& pod) {
        return json::text_at(pod, "/status/phase") == "Running" &&
               json::text_at(pod, "/metadata/deletionTimestamp").empty();
    }
    /// What lies in the launcher's folder: volume → the claim behind it.
    std::map<std::string, std::string> in_place(const std::string& machine = "web") {
        std::map<std::string, std::string> out;
        const Launcher* launcher = world.launcher_of(machine);
        if (launcher == nullptr) return out;
        for (const auto& [volume, pv] : world.node(vmi("/status/nodeName", machine)).plugs().in_place(launcher->pod)) {
            out[volume] = world.text(api::kVolume, pv, "/spec/claimRef/name");
        }
        return out;
    }
    int attaches(const std::string& volume, const std::string& machine = "web") {
        return static_cast<int>(std::ranges::count_if(world.machines.trace, [&](const std::string& line) {
            return line.find("attach " + machine + "/" + volume + " ") != std::string::npos;
        }));
    }
    int detaches(const std::string& volume, const std::string& machine = "web") {
        return static_cast<int>(std::ranges::count_if(world.machines.trace, [&](const std::string& line) {
            return line.find("detach " + machine + "/" + volume) != std::string::npos;
        }));
    }
    bool is_in_guest(const std::string& volume, const std::string& machine = "web") {
        const Launcher* launcher = world.launcher_of(machine);
        return launcher != nullptr &&
               contains(launcher->report.disks | std::views::transform(&agent::DiskReport::name), volume);
    }
    std::string has_no_trace_of(const std::string& volume, const std::string& machine = "web") {
        if (!entry(volume, "/name", machine).empty()) return "vs(" + volume + ") is " + phase(volume, machine);
        if (in_place(machine).contains(volume)) return volume + " is in the launcher's folder";
        if (is_in_guest(volume, machine)) return volume + " is in the guest";
        for (const kube::Document& pod : attachment_pods(machine)) {
            for (const json::Value& one : json::find(*pod, "/spec/volumes")->get_array()) {
                if (json::text_at(one, "/name") == volume)
                    return volume + " is in pod " + std::string(json::text_at(*pod, "/metadata/name"));
            }
        }
        return "";
    }
    ::testing::AssertionResult is_gone_from(const std::string& volume, const std::string& machine = "web") {
        if (world.until([&] { return has_no_trace_of(volume, machine).empty(); }, 90s))
            return ::testing::AssertionSuccess();
        return ::testing::AssertionFailure() << has_no_trace_of(volume, machine);
    }
};

}  // namespace berth::sim
