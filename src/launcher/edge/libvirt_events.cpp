// See libvirt_events.hpp.
#include "launcher/edge/libvirt_events.hpp"

#include <mutex>
#include <thread>

#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>

#include "base/check.hpp"

namespace berth::launcher {

void start_libvirt_events() {
    static std::once_flag once;
    std::call_once(once, [] {
        virSetErrorFunc(nullptr, [](void*, virErrorPtr) {});  // errors are values here, not lines on standard error
        CHECK(virInitialize() == 0);
        CHECK(virEventRegisterDefaultImpl() == 0);
        // It owns nothing and ends with the process: libvirt keeps sockets and timers on it as long as there is one.
        std::thread([] {
            while (true) virEventRunDefaultImpl();
        }).detach();
    });
}

}  // namespace berth::launcher
