#include "datavolume/dv/wants.hpp"

#include "api/codec.hpp"
#include "datavolume/dv/conditions.hpp"
#include "datavolume/dv/facts.hpp"
#include "datavolume/dv/status.hpp"
#include "datavolume/names.hpp"

namespace berth::datavolume::dv {
namespace {

json::Object owner_of(const View& view) {
    return {
        {"apiVersion",         api::kDataVolume.api_version()},
        {"kind",               api::kDataVolume.kind         },
        {"name",               view.dv.metadata.name         },
        {"uid",                view.dv.metadata.uid.value    },
        {"controller",         true                          },
        {"blockOwnerDeletion", true                          },
    };
}

void put(json::Object& out, std::string_view key, const std::string& value) {
    if (!value.empty()) out[key] = value;
}

void add_http_request(const api::HttpSource& http, json::Object& out) {
    out[kImportSource] = "http";
    put(out, kImportEndpoint, http.url);
    put(out, kImportSecret, http.secret_ref);
    put(out, kImportCertConfigMap, http.cert_config_map);
    put(out, kImportChecksum, http.checksum);
    if (http.insecure_skip_verify) out[kImportInsecure] = "true";
    for (std::size_t i = 0; i < http.extra_headers.size(); ++i) {
        out[kImportHeader + std::to_string(i)] = http.extra_headers[i];
    }
    for (std::size_t i = 0; i < http.secret_extra_headers.size(); ++i) {
        out[kImportSecretHeader + std::to_string(i)] = http.secret_extra_headers[i];
    }
}

json::Object annotations_of(const View& view) {
    const api::DataVolume& dv = view.dv;
    json::Object out;
    for (const auto& [key, value] : dv.metadata.annotations) out[key] = value;
    if (dv.status.phase != "Succeeded") out.erase(kPopulatedFor);
    out[kPodRestarts] = "0";
    out[kCreatedFor] = dv.metadata.uid.value;
    out[kContentType] = dv.spec.content_type.empty() ? "kubevirt" : dv.spec.content_type;
    out[kPreallocationRequested] = dv.spec.preallocation.value_or(view.settings.preallocates) ? "true" : "false";
    put(out, kPriorityClass, dv.spec.priority_class_name);
    put(out, kServiceAccount, dv.spec.service_account_name);
    if (dv.spec.source && dv.spec.source->http) {
        add_http_request(*dv.spec.source->http, out);
    } else {
        out[kImportSource] = "none";
    }
    // The worker's name follows from the claim's, so the claim is born with it: one write less, and a claim that
    // outlives its DataVolume says that it was never filled.
    out[kImportPod] = importer_name(dv.metadata.name);
    out[kPodPhase] = "Pending";
    return out;
}

api::Wait wait_on_claim(const View& view, std::string who, std::string why) {
    return {.who = std::move(who), .on = claim_key(view.dv), .why = std::move(why)};
}

// A claim that is there is waited for where it is stuck: for its binding, or for the worker.
std::optional<api::Wait> wait_of(const View& view) {
    const api::DataVolumeStatus status = status_of(view);
    if (status.phase == "Succeeded" || status.phase == "Failed" || is_deleting(view)) return {};
    if (status.phase == "WaitForFirstConsumer") {
        return wait_on_claim(
            view, "user", "the claim binds with the first pod that uses it: start a machine or pod that does"
        );
    }
    if (status.phase == "Pending") return wait_on_claim(view, "provisioner", "the claim is not bound");
    const api::Condition* running = api::find_condition(status.conditions, "Running");
    std::string why = "the disk is being filled";
    if (running != nullptr && running->status == "False" && !running->message.empty()) why = running->message;
    return wait_on_claim(view, "worker", std::move(why));
}

}  // namespace

json::Value claim_for(const View& view) {
    const auto spec = render_claim(view.render);
    json::Object labels;
    for (const auto& [key, value] : view.dv.metadata.labels) labels[key] = value;
    labels["app"] = "containerized-data-importer";
    if (json::text_at(*spec, "/volumeMode") != "Block")
        labels["alerts.k8s.io/KubePersistentVolumeFillingUp"] = "disabled";
    return json::Object{
        {"apiVersion", "v1"                   },
        {"kind",       "PersistentVolumeClaim"},
        {"metadata",
         json::Object{
             {"name", view.dv.metadata.name},
             {"namespace", view.dv.metadata.ns},
             {"labels", std::move(labels)},
             {"annotations", annotations_of(view)},
             {"ownerReferences", json::Array{owner_of(view)}},
         }                                    },
        {"spec",       *spec                  },
    };
}

api::Plan report_only(const View& view) {
    api::Plan plan;
    plan.wait = wait_of(view);
    return with_report(std::move(plan), view);
}

api::Plan await_claim_removal(const View& view) {
    const std::string& name = view.dv.metadata.name;
    api::Plan plan =
        api::wait_for(wait_on_claim(view, "users of the claim", "an earlier claim of this name is being removed"));
    plan = with_report(std::move(plan), view);
    return std::move(plan).add(api::Emit{
        .about = key_of(view.dv),
        .uid = view.dv.metadata.uid,
        .is_warning = true,
        .reason = "ErrResourceMarkedForDeletion",
        .message = "Resource \"" + name + "\" marked for deletion",
    });
}

api::Plan refuse_claim(const View& view) {
    return with_report(
        api::wait_for(wait_on_claim(view, "user", "a claim of this name belongs to someone else: rename one of the two")
        ),
        view
    );
}

api::Plan take_over_claim(const View& view) {
    const json::Value metadata = api::encode(view.claim->metadata);
    const json::Value* observed = json::find(metadata, "/ownerReferences");
    json::Array owners = observed == nullptr ? json::Array() : observed->get_array();
    owners.push_back(owner_of(view));
    api::Plan plan = api::want(api::Patch{
        .key = claim_key(view.dv),
        .patch = json::Value(json::Object{{"metadata", json::Object{{"ownerReferences", std::move(owners)}}}}
          ),
        .uid = view.claim->metadata.uid,
        .at = view.claim->metadata.resource_version,
    });
    return with_report(std::move(plan), view);
}

api::Plan await_restored_claim(const View& view) {
    return with_report(
        api::wait_for(wait_on_claim(view, "user", "the claim of a restored DataVolume is not there yet")), view
    );
}

api::Plan say_unsupported(const View& view) {
    return with_report(api::wait_for({.who = "user", .on = key_of(view.dv), .why = objection_of(view)->message}), view);
}

api::Plan say_unrenderable(const View& view) {
    return with_report(
        api::wait_for({.who = "administrator", .on = key_of(view.dv), .why = objection_of(view)->message}), view
    );
}

api::Plan report_and_create_claim(const View& view) { return with_report({}, view).add(api::Create{claim_for(view)}); }

api::Plan create_claim(const View& view) { return api::want(api::Create{claim_for(view)}); }

}  // namespace berth::datavolume::dv
