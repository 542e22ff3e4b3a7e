#include "kube/events.hpp"

#include <cstdio>

#include "base/hash.hpp"

namespace berth::kube {
namespace {

std::string event_name(const std::string& source, const api::Emit& event) {
    const std::string identity =
        source + "\n" + event.uid.value + "\n" + api::print(event.about) + "\n" + event.reason + "\n" + event.message;
    char hash[17];
    std::snprintf(hash, sizeof hash, "%016llx", static_cast<unsigned long long>(fnv1a64(identity)));
    return event.about.name.substr(0, 230) + "." + hash;
}

json::Value document(
    const std::string& source, const api::Emit& event, const std::string& name, const std::string& ns, Timestamp now
) {
    const std::string seconds = to_rfc3339(now);
    return json::Object{
        {"apiVersion",         "v1"                                           },
        {"kind",               "Event"                                        },
        {"metadata",           json::Object{{"name", name}, {"namespace", ns}}},
        {"involvedObject",
         json::Object{
             {"apiVersion", event.about.kind->api_version()},
             {"kind", event.about.kind->kind},
             {"namespace", event.about.ns},
             {"name", event.about.name},
             {"uid", event.uid.value},
         }                                                                    },
        {"type",               event.is_warning ? "Warning" : "Normal"        },
        {"reason",             event.reason                                   },
        {"message",            event.message                                  },
        {"source",             json::Object{{"component", source}}            },
        {"reportingComponent", source                                         },
        {"reportingInstance",  source                                         },
        {"action",             event.reason                                   },
        {"eventTime",          to_rfc3339_micro(now)                          },
        {"firstTimestamp",     seconds                                        },
        {"lastTimestamp",      seconds                                        },
        {"count",              1                                              },
    };
}

}  // namespace

Task<void> EventRecorder::record(std::string source, api::Emit event) {
    const std::string name = event_name(source, event);
    const std::string ns = event.about.ns.empty() ? "default" : event.about.ns;
    const auto it = known_.find(name);
    if (it == known_.end()) {
        if (order_.size() >= kRemembered) {
            known_.erase(order_.front());
            order_.pop_front();
        }
        order_.push_back(name);
        known_[name] = {ns, 1, clock_.monotonic()};
        const Result<Document> created = co_await api_.create(document(source, event, name, ns, clock_.now()));
        const bool counts_on = !created && created.error().kind == ErrorKind::already_exists;
        if (!counts_on) co_return;
    } else if (clock_.monotonic() - it->second.written < kQuietTime) {
        ++it->second.count;
        co_return;
    } else {
        ++it->second.count;
        it->second.written = clock_.monotonic();
    }
    json::Value patch = json::Object{
        {"count",         known_[name].count      },
        {"lastTimestamp", to_rfc3339(clock_.now())}
    };
    api::Key key{&api::kEvent, ns, name};
    const Result<Document> patched = co_await api_.patch(std::move(key), std::move(patch));
    if (!patched) known_.erase(name);
}

}  // namespace berth::kube
