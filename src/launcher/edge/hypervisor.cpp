// See hypervisor.hpp. Calls run on the pool; libvirt's callbacks come on the thread of its event loop and are posted.
#include "launcher/edge/hypervisor.hpp"

#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>
#include <boost/asio/post.hpp>

#include "base/async/notify.hpp"
#include "base/async/task_group.hpp"
#include "launcher/edge/libvirt_disks.hpp"
#include "launcher/edge/libvirt_events.hpp"
#include "launcher/edge/stray_disk.hpp"
#include "launcher/plan/plugs.hpp"

namespace berth::launcher {

using namespace std::chrono_literals;

// Outlives the Hypervisor when a callback is on its way.
struct HypervisorEvents {
    Executor executor;
    std::function<void()> on_change;  // used on the loop only
    bool is_alive = true;
};

// Told when a connection ends; shared with the callback that says so.
struct Lost {
    explicit Lost(Executor on) : executor(on), notify(std::move(on)) {}
    Executor executor;
    Notify notify;
};

namespace {

constexpr auto kFirstPause = 20ms;
constexpr auto kLongestPause = 500ms;
constexpr int kStrayRounds = 60;  // five minutes; a guest that lets nothing go keeps what it has
constexpr int kKeepAliveSeconds = 5;
constexpr unsigned kKeepAliveCount = 3;

DomainState state_of(int state, int reason) {
    switch (state) {
        case VIR_DOMAIN_NOSTATE: return DomainState::starting;
        case VIR_DOMAIN_PAUSED:
            return reason == VIR_DOMAIN_PAUSED_STARTING_UP ? DomainState::starting : DomainState::paused;
        case VIR_DOMAIN_SHUTOFF:
            return reason == VIR_DOMAIN_SHUTOFF_CRASHED ? DomainState::crashed : DomainState::shutoff;
        case VIR_DOMAIN_CRASHED: return DomainState::crashed;
        default: return DomainState::running;  // running, blocked, and SHUTDOWN: QEMU is about to end
    }
}

std::string reason_of(int state, int reason) {
    if (state == VIR_DOMAIN_PAUSED) {
        return reason == VIR_DOMAIN_PAUSED_IOERROR ? "ioerror" : reason == VIR_DOMAIN_PAUSED_USER ? "user" : "other";
    }
    if (state == VIR_DOMAIN_CRASHED) return "crashed";
    if (state != VIR_DOMAIN_SHUTOFF) return "";
    switch (reason) {
        case VIR_DOMAIN_SHUTOFF_SHUTDOWN: return "shutdown";
        case VIR_DOMAIN_SHUTOFF_DESTROYED: return "destroyed";
        case VIR_DOMAIN_SHUTOFF_CRASHED: return "crashed";
        case VIR_DOMAIN_SHUTOFF_UNKNOWN: return "never";  // not since this libvirtd began
        default: return "failed";
    }
}

Result<Observed> observe(virConnectPtr connection, const std::string& name) {
    Observed out;
    const Domain domain(virDomainLookupByName(connection, name.c_str()));
    if (!domain) {
        const virError* const error = virGetLastError();
        if (error == nullptr || error->code != VIR_ERR_NO_DOMAIN) return libvirt_error("look for the domain");
        out.state = DomainState::absent;
        return out;
    }
    int state = 0;
    int reason = 0;
    if (virDomainGetState(domain.get(), &state, &reason, 0) != 0) return libvirt_error("read the domain's state");
    out.state = state_of(state, reason);
    out.reason = reason_of(state, reason);
    if (out.state != DomainState::running && out.state != DomainState::paused) return out;
    if (char* const xml = virDomainGetXMLDesc(domain.get(), 0)) {
        out.live = read_live(xml);
        std::free(xml);
    }
    return out;
}

Result<void> define_and_start(virConnectPtr connection, const std::string& xml) {
    const Domain domain(virDomainDefineXML(connection, xml.c_str()));
    if (!domain) return libvirt_error("define the domain");
    if (virDomainCreate(domain.get()) != 0) return libvirt_error("start the domain");
    return {};
}

template <class Act>
Result<void> act_on(virConnectPtr connection, const std::string& name, std::string_view doing, Act act) {
    const Domain domain(virDomainLookupByName(connection, name.c_str()));
    if (!domain) return libvirt_error(doing);
    if (act(domain.get()) == 0) return {};
    const virError* const error = virGetLastError();
    if (error != nullptr && error->code == VIR_ERR_OPERATION_INVALID) return {};  // it is off already
    return libvirt_error(doing);
}

void tell_change(void* opaque) {
    const auto events = *static_cast<std::shared_ptr<HypervisorEvents>*>(opaque);
    boost::asio::post(events->executor, [events] {
        if (events->is_alive) events->on_change();
    });
}

int on_lifecycle(virConnectPtr, virDomainPtr, int, int, void* opaque) {
    tell_change(opaque);
    return 0;
}
void on_device(virConnectPtr, virDomainPtr, const char*, void* opaque) { tell_change(opaque); }
void on_tray(virConnectPtr, virDomainPtr, const char*, int, void* opaque) { tell_change(opaque); }

struct Event {
    int id;
    virConnectDomainEventGenericCallback callback;
};

// libvirt knows the true type by the event's id.
template <class Callback>
virConnectDomainEventGenericCallback generic(Callback callback) {
    return reinterpret_cast<virConnectDomainEventGenericCallback>(reinterpret_cast<void (*)()>(callback));
}

// A device came, went, or its guest refused to let it go; a drive's tray moved.
const Event kDeviceEvents[] = {
    {VIR_DOMAIN_EVENT_ID_DEVICE_ADDED,          generic(on_device)},
    {VIR_DOMAIN_EVENT_ID_DEVICE_REMOVED,        generic(on_device)},
    {VIR_DOMAIN_EVENT_ID_DEVICE_REMOVAL_FAILED, generic(on_device)},
    {VIR_DOMAIN_EVENT_ID_TRAY_CHANGE,           generic(on_tray)  },
};

void on_close(virConnectPtr, int, void* opaque) {
    const auto lost = *static_cast<std::shared_ptr<Lost>*>(opaque);
    boost::asio::post(lost->executor, [lost] { lost->notify.notify(); });
}

// What a callback needs lives as long as libvirt may call it.
template <class T>
void free_opaque(void* opaque) {
    delete static_cast<std::shared_ptr<T>*>(opaque);
}

// They end with the connection.
void register_device_events(virConnectPtr handle, const std::shared_ptr<HypervisorEvents>& events) {
    for (const Event& event : kDeviceEvents) {
        auto opaque = std::make_unique<std::shared_ptr<HypervisorEvents>>(events);
        const int id =
            virConnectDomainEventRegisterAny(handle, nullptr, event.id, event.callback, opaque.get(), free_opaque<HypervisorEvents>);
        if (id >= 0) static_cast<void>(opaque.release());
    }
}

std::unexpected<Error> not_connected() { return fail(ErrorKind::unavailable, "libvirtd does not answer yet"); }

Result<virConnectPtr> open_connection(
    const std::string& uri, const std::shared_ptr<Lost>& lost, const std::shared_ptr<HypervisorEvents>& events
) {
    virConnectPtr handle = virConnectOpen(uri.c_str());
    if (handle == nullptr) return libvirt_error("connect to libvirtd");
    auto close_opaque = std::make_unique<std::shared_ptr<Lost>>(lost);
    auto event_opaque = std::make_unique<std::shared_ptr<HypervisorEvents>>(events);
    if (virConnectRegisterCloseCallback(handle, on_close, close_opaque.get(), free_opaque<Lost>) == 0) {
        static_cast<void>(close_opaque.release());
        virConnectSetKeepAlive(handle, kKeepAliveSeconds, kKeepAliveCount);
        if (virConnectDomainEventRegister(handle, on_lifecycle, event_opaque.get(), free_opaque<HypervisorEvents>) ==
            0) {
            static_cast<void>(event_opaque.release());
            register_device_events(handle, events);
            return handle;
        }
    }
    auto failed = libvirt_error("ask libvirtd for events");
    virConnectClose(handle);
    return failed;
}

}  // namespace

struct Hypervisor::Connection {
    explicit Connection(Executor executor) : lost(std::make_shared<Lost>(std::move(executor))) {}
    ~Connection() {
        if (handle == nullptr) return;
        virConnectDomainEventDeregister(handle, on_lifecycle);
        virConnectUnregisterCloseCallback(handle, on_close);
        virConnectClose(handle);
    }
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    virConnectPtr handle = nullptr;
    std::shared_ptr<Lost> lost;
};

Hypervisor::Hypervisor(
    Executor executor,
    Blocking& pool,
    Blocking& disk_pool,
    Clock& clock,
    Log& log,
    std::string uri,
    std::string domain,
    std::function<void()> on_change
)
    : executor_(std::move(executor)),
      pool_(pool),
      disk_pool_(disk_pool),
      clock_(clock),
      log_(log),
      uri_(std::move(uri)),
      domain_(std::move(domain)),
      on_change_(std::move(on_change)),
      events_(std::make_shared<HypervisorEvents>(executor_, on_change_)) {
    start_libvirt_events();
}

Hypervisor::~Hypervisor() { events_->is_alive = false; }

Task<void> Hypervisor::keep_connected() {
    Duration pause = kFirstPause;
    while (true) {
        auto fresh = std::make_shared<Connection>(executor_);
        const auto open = [lost = fresh->lost, events = events_, uri = uri_] {
            return open_connection(uri, lost, events);
        };
        const Result<virConnectPtr> opened = co_await blocking(pool_, open);
        if (!opened) {
            co_await clock_.sleep_for(pause);
            pause = std::min<Duration>(pause * 2, kLongestPause);
            continue;
        }
        pause = kFirstPause;
        fresh->handle = *opened;
        connection_ = fresh;
        on_change_();
        co_await remove_strays(*fresh);
        log_.warn("libvirtd is gone, connecting again");
        connection_.reset();
        on_change_();
    }
}

// Returns when the connection is lost.
Task<void> Hypervisor::remove_strays(const Connection& connection) {
    std::function<Result<std::vector<std::string>>(virDomainPtr)> act =
        [](virDomainPtr domain) -> Result<std::vector<std::string>> { return remove_stray_disks(domain); };
    for (int round = 0; round < kStrayRounds; ++round) {
        const Result<std::vector<std::string>> left = co_await with_domain<std::vector<std::string>>(act);
        if (!left || left->empty()) break;
        for (const std::string& name : *left)
            log_.warn(
                "QEMU has a disk that libvirt does not know",
                {
                    {"disk", name}
            }
            );
        const bool is_lost = co_await finishes_within(clock_, kAskGuestAgainAfter, connection.lost->notify.wait());
        if (is_lost) co_return;
    }
    co_await connection.lost->notify.wait();
}

Task<Result<Observed>> Hypervisor::look() {
    const std::shared_ptr<Connection> connection = connection_;
    if (!connection) co_return not_connected();
    const auto work = [connection, name = domain_] { return observe(connection->handle, name); };
    Result<Observed> seen = co_await blocking(pool_, work);
    co_return seen;
}

Task<Result<void>> Hypervisor::start(std::string xml) {
    const std::shared_ptr<Connection> connection = connection_;
    if (!connection) co_return not_connected();
    const auto work = [connection, xml = std::move(xml)] { return define_and_start(connection->handle, xml); };
    const Result<void> done = co_await blocking(pool_, work);
    co_return done;
}

Task<Result<void>> Hypervisor::shutdown() {
    const std::shared_ptr<Connection> connection = connection_;
    if (!connection) co_return not_connected();
    const auto work = [connection, name = domain_] {
        return act_on(connection->handle, name, "press the power button", [](virDomainPtr domain) {
            return virDomainShutdownFlags(domain, VIR_DOMAIN_SHUTDOWN_ACPI_POWER_BTN);
        });
    };
    const Result<void> done = co_await blocking(pool_, work);
    co_return done;
}

Task<Result<void>> Hypervisor::destroy() {
    const std::shared_ptr<Connection> connection = connection_;
    if (!connection) co_return not_connected();
    const auto work = [connection, name = domain_] {
        return act_on(connection->handle, name, "destroy the domain", [](virDomainPtr domain) {
            return virDomainDestroy(domain);
        });
    };
    const Result<void> done = co_await blocking(pool_, work);
    co_return done;
}

template <class T>
Task<Result<T>> Hypervisor::with_domain(std::function<Result<T>(virDomainPtr)> act) {
    const std::shared_ptr<Connection> connection = connection_;
    if (!connection) co_return not_connected();
    const auto work = [connection, name = domain_, act = std::move(act)]() -> Result<T> {
        const Domain domain(virDomainLookupByName(connection->handle, name.c_str()));
        if (!domain) return libvirt_error("look for the domain");
        return act(domain.get());
    };
    Result<T> done = co_await blocking(disk_pool_, work);
    co_return done;
}

Task<Result<void>> Hypervisor::attach(std::string device) {
    std::function<Result<void>(virDomainPtr)> act = [device](virDomainPtr domain) {
        return attach_disk(domain, device);
    };
    return with_domain<void>(std::move(act));
}

Task<Result<void>> Hypervisor::detach(std::string alias) {
    std::function<Result<void>(virDomainPtr)> act = [alias](virDomainPtr domain) {
        return ask_to_let_go(domain, alias);
    };
    return with_domain<void>(std::move(act));
}

Task<Result<void>> Hypervisor::change_medium(std::string device) {
    std::function<Result<void>(virDomainPtr)> act = [device](virDomainPtr domain) {
        return change_medium_of(domain, device);
    };
    return with_domain<void>(std::move(act));
}

Task<Result<void>> Hypervisor::grow(std::string target, std::int64_t size) {
    std::function<Result<void>(virDomainPtr)> act = [target, size](virDomainPtr domain) {
        return grow_disk(domain, target, size);
    };
    return with_domain<void>(std::move(act));
}

Task<Result<std::map<std::string, std::int64_t>>> Hypervisor::sizes(std::vector<std::string> targets) {
    using Sizes = std::map<std::string, std::int64_t>;
    std::function<Result<Sizes>(virDomainPtr)> act = [targets](virDomainPtr domain) -> Result<Sizes> {
        return sizes_of(domain, targets);
    };
    return with_domain<Sizes>(std::move(act));
}

}  // namespace berth::launcher
