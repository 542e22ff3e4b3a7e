#include "hotplug/template/sync.hpp"

#include <gtest/gtest.h>

#include <set>

#include "api/codec.hpp"
#include "base/ranges.hpp"
#include "json/diff.hpp"

namespace berth::hotplug::tmpl {
namespace {

json::Value parsed(std::string_view text) {
    Result<json::Value> value = json::parse(text);
    EXPECT_TRUE(value.has_value()) << text;
    return value ? *std::move(value) : json::Value();
}

/// A VM, its machine, and one pass over them. Volumes are written "name=claim", "name=claim!" when they are permanent;
/// disks "name" for one on scsi, "name(cd)" for a drive.
struct Seen {
    std::vector<std::string> wanted, wanted_disks;
    std::vector<std::string> running, running_disks;
    std::vector<std::string> statuses = {};
    std::string queue = "[]";
    std::string phase = "Running";  ///< "": there is no machine
    std::string strategy = {};
    std::string extra = {};  ///< members of the machine's status
    std::string conditions = "[]";
    bool is_deleting = false;
    Gates gates = {};
    std::optional<std::string> failed = {};

    static json::Value volume(std::string text) {
        const bool is_permanent = text.ends_with("!");
        if (is_permanent) text.pop_back();
        const std::size_t sign = text.find('=');
        json::Object claim{
            {"claimName", text.substr(sign + 1)}
        };
        if (!is_permanent) claim["hotpluggable"] = true;
        return json::Object{
            {"name", text.substr(0, sign)},
            {"persistentVolumeClaim", std::move(claim)}
        };
    }
    static json::Value disk(std::string text) {
        const bool is_drive = text.ends_with("(cd)");
        if (is_drive) text.resize(text.size() - 4);
        return json::Object{
            {"name",                      text                                             },
            {is_drive ? "cdrom" : "disk", json::Object{{"bus", is_drive ? "sata" : "scsi"}}}
        };
    }
    static json::Value spec(const std::vector<std::string>& volumes, const std::vector<std::string>& disks) {
        json::Array listed, shown;
        for (const std::string& text : volumes) listed.push_back(volume(text));
        for (const std::string& text : disks) shown.push_back(disk(text));
        return json::Object{
            {"volumes", std::move(listed)                                                   },
            {"domain",  json::Object{{"devices", json::Object{{"disks", std::move(shown)}}}}}
        };
    }
    static std::string print(const json::Value& spec) {
        std::string out;
        for (const json::Value& volume : spec.at("volumes").get_array()) {
            out += std::string(json::text_at(volume, "/name")) + "=" +
                   std::string(json::text_at(volume, "/persistentVolumeClaim/claimName")) + " ";
        }
        out += "|";
        for (const json::Value& disk : json::find(spec, "/domain/devices/disks")->get_array())
            out += " " + std::string(json::text_at(disk, "/name"));
        return out;
    }

    [[nodiscard]] json::Value vm_document() const {
        json::Value out =
            parsed(R"({"metadata":{"name":"web","namespace":"default","uid":"m1","resourceVersion":"7"}})");
        if (is_deleting) json::set(out, "/metadata/deletionTimestamp", json::Value("2026-01-02T00:00:00Z"));
        json::set(out, "/spec/template/spec", spec(wanted, wanted_disks));
        if (!strategy.empty()) json::set(out, "/spec/updateVolumesStrategy", json::Value(strategy));
        json::set(out, "/status/conditions", parsed(conditions));
        if (queue != "[]") json::set(out, "/status/volumeRequests", parsed(queue));
        return out;
    }
    [[nodiscard]] json::Value vmi_document() const {
        json::Value out =
            parsed(R"({"metadata":{"name":"web","namespace":"default","uid":"u1","resourceVersion":"9"}})");
        json::set(out, "/spec", spec(running, running_disks));
        json::set(out, "/status", parsed("{" + extra + "}"));
        json::set(out, "/status/phase", json::Value(phase));
        json::Array entries;
        for (const std::string& name : statuses) {
            entries.push_back(json::Object{
                {"name",          name          },
                {"target",        ""            },
                {"hotplugVolume", json::Object()}
            });
        }
        json::set(out, "/status/volumeStatus", std::move(entries));
        return out;
    }

    /// "rule: what is written", lists as print() shows them.
    [[nodiscard]] std::string pass() const {
        const json::Value vm_text = vm_document(), vmi_text = vmi_document();
        const auto vm = api::decode<api::VirtualMachine>(vm_text);
        const auto vmi = api::decode<api::VirtualMachineInstance>(vmi_text);
        EXPECT_TRUE(vm && vmi);
        View view{.vm = &*vm, .vm_document = &vm_text, .gates = gates, .failed = failed};
        if (!phase.empty()) view.vmi = &*vmi;
        if (!phase.empty()) view.vmi_document = &vmi_text;
        const api::Plan got = plan(view);
        std::string out(got.rule);
        for (const api::Intent& intent : got.intents) {
            const auto& patch = std::get<api::Patch>(intent);
            EXPECT_TRUE(patch.at.has_value()) << "decided on one version only";
            if (const json::Value* conditions_now = json::find(patch.patch, "/status/conditions")) {
                out += "; told:";
                for (const json::Value& one : conditions_now->get_array())
                    out += " " + std::string(json::text_at(one, "/type")) + "=" +
                           std::string(json::text_at(one, "/reason"));
            } else if (const json::Value* in_template = json::find(patch.patch, "/spec/template/spec")) {
                out += "; template " + print(*in_template);
            } else if (const json::Value* machine = json::find(patch.patch, "/spec")) {
                out += "; machine " + print(*machine);
            } else {
                out += "; " + json::print(patch.patch);
            }
        }
        if (got.wait) out += "; waits for " + got.wait->who;
        return out;
    }
};

constexpr Gates kLegacy{.legacy = true};
constexpr const char* kAddV =
    R"({"addVolumeOptions":{"name":"v","disk":{"name":"v","disk":{"bus":"scsi"}},"volumeSource":{"persistentVolumeClaim":{"claimName":"c","hotpluggable":true}}}})";
constexpr const char* kRemoveV = R"({"removeVolumeOptions":{"name":"v"}})";

struct Row {
    const char* id;
    const char* given;
    Seen seen;
    const char* result;
};

std::vector<Row> template_rows() {
    const std::string moving = R"("migrationState":{"startTimestamp":"2026-01-02T00:00:00Z"})";
    const std::string settled = "nothing-to-plug";
    return {
        {"4.2",          "alike",                                  {{"r=r!"}, {"r"}, {"r=r!"}, {"r"}},                                          "nothing-to-plug"                           },
        {"H-43",
         "a plugged volume in the template only",                  {{"r=r!", "v=c"}, {"r", "v"}, {"r=r!"}, {"r"}},
         "machine-follows-template; machine r=r v=c | r v"                                                                                                                                  },
        {"H-44",
         "a permanent volume in the template only",                {{"r=r!", "p=c!"}, {"r", "p"}, {"r=r!"}, {"r"}},
         "nothing-to-plug"                                                                                                                                                                  },
        {"H-45",         "a permanent volume in the machine only", {{}, {}, {"r=r!"}, {"r"}},                                                   "nothing-to-plug"                           },
        {"4.2",
         "a plugged volume in the machine only",                   {{"r=r!"}, {"r"}, {"r=r!", "v=c"}, {"r", "v"}, {"v"}},
         "machine-follows-template; machine r=r | r"                                                                                                                                        },
        {"H-46",         "another claim",                          {{"v=c2"}, {"v"}, {"v=c1"}, {"v"}, {"v"}},                                   "machine-follows-template; machine |"       },
        {"H-46",         "and the old one is not gone yet",        {{"v=c2"}, {"v"}, {}, {}, {"v"}},                                            "nothing-to-plug"                           },
        {"H-46",         "until it is",                            {{"v=c2"}, {"v"}, {}, {}, {}},                                               "machine-follows-template; machine v=c2 | v"},
        {"9.10",         "added again",                            {{"r=r!", "v=c"}, {"r", "v"}, {"r=r!"}, {"r"}, {"v"}},                       "nothing-to-plug"                           },
        {"4.2",
         "two at once, one leaves",                                {{"a=a", "b=b"}, {"a", "b"}, {"x=x"}, {"x"}, {"x"}},
         "machine-follows-template; machine a=a b=b | a b"                                                                                                                                  },
        {"4.2",
         "the order of the template is nothing to go by",          {{"b=b", "a=a"}, {"b", "a"}, {"a=a", "b=b"}, {"a", "b"}},
         "nothing-to-plug"                                                                                                                                                                  },
        {"4.2",
         "a flag alone does not plug a permanent volume out",      {{"r=r"}, {"r"}, {"r=r!"}, {"r"}},
         "nothing-to-plug"                                                                                                                                                                  },
        {"H-48",
         "volumes migrate",                                        {.wanted = {"v=c"}, .wanted_disks = {"v"}, .strategy = "Migration"},
         "nothing-to-plug"                                                                                                                                                                  },
        {"4.2",          "no machine",                             {.wanted = {"v=c"}, .wanted_disks = {"v"}, .phase = ""},                     "nothing-to-plug"                           },
        {"4.2",
         "it does not run yet",                                    {.wanted = {"v=c"}, .wanted_disks = {"v"}, .phase = "Scheduled"},
         "nothing-to-plug"                                                                                                                                                                  },
        {"2.1",
         "the queue is what counts",                               {.wanted = {"v=c"}, .wanted_disks = {"v"}, .gates = kLegacy},
         "nothing-to-plug"                                                                                                                                                                  },
        {"2.1",
         "nothing is offered",                                     {.wanted = {"v=c"}, .wanted_disks = {"v"}, .gates = {.declarative = false}},
         "nothing-to-plug"                                                                                                                                                                  },
        {"hotplug/R-35",
         "volumes of the machine alone stay with the queue",       {.running = {"v=c"}, .running_disks = {"v"}, .gates = kLegacy},
         "nothing-to-plug"                                                                                                                                                                  },
        {"hotplug/R-35",
         "and go when the template counts",                        {.running = {"v=c"}, .running_disks = {"v"}},
         "machine-follows-template; machine |"                                                                                                                                              },
        {"hotplug/R-24",
         "a migration",                                            {.running = {"v=c"}, .running_disks = {"v"}, .extra = moving},
         "migration-comes-first; waits for migration"                                                                                                                                       },
        {"4.1",
         "a deleted VM",                                           {.running = {"v=c"}, .running_disks = {"v"}, .is_deleting = true},
         "deleted-changes-nothing"                                                                                                                                                          },
    };
}

std::vector<Row> drive_rows() {
    return {
        {"H-51", "an empty drive",                      {{}, {"d(cd)"}, {}, {"d(cd)"}},                               "nothing-to-plug"                           },
        {"H-52", "a medium goes in",                    {{"d=m1"}, {"d(cd)"}, {}, {"d(cd)"}},                         "machine-follows-template; machine d=m1 | d"
        },
        {"H-52",
         "another one: out first",                      {{"d=m2"}, {"d(cd)"}, {"d=m1"}, {"d(cd)"}, {"d"}},
         "machine-follows-template; machine | d"                                                                                                                  },
        {"H-52", "then in",                             {{"d=m2"}, {"d(cd)"}, {}, {"d(cd)"}},                         "machine-follows-template; machine d=m2 | d"},
        {"H-52", "out",                                 {{}, {"d(cd)"}, {"d=m2"}, {"d(cd)"}, {"d"}},                  "machine-follows-template; machine | d"     },
        {"H-52",
         "in again, first in the list",                 {{"d=m1", "r=r!"}, {"d(cd)", "r"}, {"r=r!"}, {"r", "d(cd)"}},
         "machine-follows-template; machine r=r d=m1 | r d"                                                                                                       },
        {"H-53", "drive and medium go",                 {{}, {}, {"d=m1"}, {"d(cd)"}, {"d"}},                         "machine-follows-template; machine |"       },
        {"9.19", "a drive that is not there from boot", {{"d=m1"}, {"d(cd)"}, {}, {}},                                "nothing-to-plug"                           },
        {"4.2",
         "a drive becomes a disk",                      {{"d=m2"}, {"d"}, {"d=m1"}, {"d(cd)"}, {"d"}},
         "machine-follows-template; machine |"                                                                                                                    },
    };
}

std::vector<Row> queue_rows() {
    const std::string add = "[" + std::string(kAddV) + "]", remove = "[" + std::string(kRemoveV) + "]";
    return {
        {"4.1",          "add, the VM is stopped", {.queue = add, .phase = ""},                                                  "requests-reach-the-template; template v=c | v"},
        {"4.1",
         "add, the machine starts",                {.queue = add, .phase = "Scheduling"},
         "requests-need-a-guest; waits for launcher"                                                                                                                            },
        {"4.1",
         "add, the machine is over",               {.queue = add, .phase = "Failed"},
         "requests-reach-the-template; template v=c | v"                                                                                                                        },
        {"4.1",          "add, it runs",           {.queue = add, .gates = kLegacy},                                             "requests-reach-the-machine; machine v=c | v"  },
        {"4.1",
         "add, the machine has it",                {.running = {"v=c"}, .running_disks = {"v"}, .queue = add, .gates = kLegacy},
         "requests-reach-the-template; template v=c | v"                                                                                                                        },
        {"H-18",
         "add, both have it",                      {{"v=c"}, {"v"}, {"v=c"}, {"v"}, {}, add},
         "requests-are-done; {\"status\":{\"volumeRequests\":null}}"                                                                                                            },
        {"4.1",
         "remove, both have it",                   {{"v=c"}, {"v"}, {"v=c"}, {"v"}, {"v"}, remove},
         "requests-reach-the-machine; machine |"                                                                                                                                },
        {"4.1",
         "remove, the template has it",            {{"v=c"}, {"v"}, {}, {}, {"v"}, remove},
         "requests-reach-the-template; template |"                                                                                                                              },
        {"H-18",
         "remove, neither has it",                 {.queue = remove},
         "requests-are-done; {\"status\":{\"volumeRequests\":null}}"                                                                                                            },
        {"hotplug/R-24",
         "remove while the machine moves",         {.running = {"v=c"},
          .running_disks = {"v"},
          .queue = remove,
          .extra = R"("migrationState":{"startTimestamp":"2026-01-02T00:00:00Z"})"},
         "migration-comes-first; waits for migration"                                                                                                                           },
    };
}

std::vector<Row> failure_rows() {
    const std::string ours =
        R"([{"type":"Ready","reason":"x"},{"type":"Failure","reason":"HotPlugVolumeError","message":"no"}])";
    const std::string theirs = R"([{"type":"Failure","reason":"FailedCreate","message":"no"}])";
    const std::string add = "[" + std::string(kAddV) + "]";
    return {
        {"H-50",
         "the machine's patch is refused",                    {.wanted = {"v=c"}, .wanted_disks = {"v"}, .failed = "no"},
         "machine-follows-template; told: Failure=HotPlugVolumeError; machine v=c | v"                                                                                                                    },
        {"H-50",
         "and has been told",                                 {.wanted = {"v=c"}, .wanted_disks = {"v"}, .conditions = ours, .failed = "no"},
         "machine-follows-template; machine v=c | v"                                                                                                                                                      },
        {"H-50", "and is not wanted any more",                {.conditions = ours, .failed = "no"},                                                                       "nothing-to-plug; told: Ready=x"},
        {"H-50",
         "and succeeded",                                     {.wanted = {"v=c"}, .wanted_disks = {"v"}, .running = {"v=c"}, .running_disks = {"v"}, .conditions = ours},
         "nothing-to-plug; told: Ready=x"                                                                                                                                                                 },
        {"2.9",
         "something worse is told first",                     {.wanted = {"v=c"}, .wanted_disks = {"v"}, .conditions = theirs, .failed = "no"},
         "machine-follows-template; machine v=c | v"                                                                                                                                                      },
        {"2.9",
         "a condition and the VM's own lists are two passes", {.queue = add, .phase = "", .failed = "no"},
         "requests-reach-the-template; told: Failure=HotPlugVolumeError"                                                                                                                                  },
    };
}

TEST(HotplugTemplate, Rows) {
    std::set<std::string> reached;
    for (auto rows : {template_rows(), drive_rows(), queue_rows(), failure_rows()}) {
        for (const Row& row : rows) {
            const std::string got = row.seen.pass();
            EXPECT_EQ(got, row.result) << row.id << ": " << row.given;
            reached.insert(got.substr(0, got.find(';')));
        }
    }
    for (const api::Rule<View>& rule : flow()) EXPECT_TRUE(reached.contains(std::string(rule.name))) << rule.name;
}

TEST(HotplugTemplate, ItComesToRest) {
    for (auto rows : {template_rows(), drive_rows()}) {
        for (const Row& row : rows) {
            if (row.seen.phase != "Running") continue;
            const json::Value vm_text = row.seen.vm_document();
            json::Value vmi_text = row.seen.vmi_document();
            const auto vm = api::decode<api::VirtualMachine>(vm_text);
            std::size_t intents = 1;
            for (int pass = 0; pass < 3 && intents > 0; ++pass) {
                const auto vmi = api::decode<api::VirtualMachineInstance>(vmi_text);
                const api::Plan got = sync(
                    {.vm = &*vm,
                     .vm_document = &vm_text,
                     .vmi = &*vmi,
                     .vmi_document = &vmi_text,
                     .gates = row.seen.gates}
                );
                intents = got.intents.size();
                if (intents > 0) json::apply_merge_patch(vmi_text, std::get<api::Patch>(got.intents[0]).patch);
            }
            EXPECT_EQ(intents, 0u) << row.given << ": out, in, and nothing more";
        }
    }
}

}  // namespace
}  // namespace berth::hotplug::tmpl
