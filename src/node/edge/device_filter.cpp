#include "node/edge/device_filter.hpp"

#include <cerrno>
#include <cstring>
#include <memory>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/fd.hpp"
#include "solo/edge/fd.hpp"

namespace berth::node {
namespace {

using solo::fail_errno;

constexpr int kFoldersMax = 8;  // deep; /dev/bus/usb/001/002 is three
constexpr std::uint32_t kProgramsMax = 64;

long bpf(int command, bpf_attr& attributes) { return ::syscall(SYS_bpf, command, &attributes, sizeof attributes); }

bpf_insn instruction(int code, int to, int from, int offset, int immediate) {
    bpf_insn out{};
    out.code = static_cast<__u8>(code);
    out.dst_reg = static_cast<__u8>(to & 0xf);
    out.src_reg = static_cast<__u8>(from & 0xf);
    out.off = static_cast<__s16>(offset);
    out.imm = immediate;
    return out;
}

bpf_insn load(int to, std::size_t offset) {
    return instruction(BPF_LDX | BPF_W | BPF_MEM, to, BPF_REG_1, static_cast<int>(offset), 0);
}
bpf_insn set(int to, int value) { return instruction(BPF_ALU64 | BPF_MOV | BPF_K, to, 0, 0, value); }
bpf_insn leave() { return instruction(BPF_JMP | BPF_EXIT, 0, 0, 0, 0); }
bpf_insn jump_unless_equal(int what, int value) { return instruction(BPF_JMP | BPF_JNE | BPF_K, what, 0, 0, value); }

int access_bits(const DeviceRule& rule) {
    return (rule.make ? BPF_DEVCG_ACC_MKNOD : 0) | (rule.read ? BPF_DEVCG_ACC_READ : 0) |
           (rule.write ? BPF_DEVCG_ACC_WRITE : 0);
}

/// Tests one rule; falls through to what comes next when it does not allow what is asked.
/// Registers: 2 type, 3 access, 4 major, 5 minor.
void add_rule(std::vector<bpf_insn>& out, const DeviceRule& rule) {
    std::vector<bpf_insn> block;
    block.push_back(jump_unless_equal(BPF_REG_2, rule.type == 'b' ? BPF_DEVCG_DEV_BLOCK : BPF_DEVCG_DEV_CHAR));
    if (rule.major) block.push_back(jump_unless_equal(BPF_REG_4, static_cast<int>(*rule.major)));
    if (rule.minor) block.push_back(jump_unless_equal(BPF_REG_5, static_cast<int>(*rule.minor)));
    // Whatever is asked beyond the rule's bits is refused.
    block.push_back(instruction(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_6, BPF_REG_3, 0, 0));
    block.push_back(instruction(BPF_ALU64 | BPF_AND | BPF_K, BPF_REG_6, 0, 0, 7 & ~access_bits(rule)));
    block.push_back(jump_unless_equal(BPF_REG_6, 0));
    block.push_back(set(BPF_REG_0, 1));
    block.push_back(leave());
    for (std::size_t i = 0; i < block.size(); ++i) {
        if (BPF_OP(block[i].code) == BPF_JNE && BPF_CLASS(block[i].code) == BPF_JMP)
            block[i].off = static_cast<__s16>(block.size() - i - 1);
    }
    out.insert(out.end(), block.begin(), block.end());
}

Result<Fd> load_program(const std::vector<bpf_insn>& program) {
    bpf_attr wish;
    std::memset(&wish, 0, sizeof wish);
    wish.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE;
    wish.insns = reinterpret_cast<std::uintptr_t>(program.data());
    wish.insn_cnt = static_cast<__u32>(program.size());
    wish.license = reinterpret_cast<std::uintptr_t>("GPL");
    Fd out(static_cast<int>(bpf(BPF_PROG_LOAD, wish)));
    if (!out.is_open()) return fail_errno("load a program of device rules", errno);
    return out;
}

Result<std::vector<std::uint32_t>> attached(const Fd& group) {
    std::vector<std::uint32_t> ids(kProgramsMax);
    bpf_attr wish;
    std::memset(&wish, 0, sizeof wish);
    wish.query.target_fd = static_cast<__u32>(group.get());
    wish.query.attach_type = BPF_CGROUP_DEVICE;
    wish.query.prog_cnt = kProgramsMax;
    wish.query.prog_ids = reinterpret_cast<std::uintptr_t>(ids.data());
    if (bpf(BPF_PROG_QUERY, wish) != 0) return fail_errno("ask for the device rules of the control group", errno);
    ids.resize(wish.query.prog_cnt);
    return ids;
}

Fd program_of(std::uint32_t id) {
    bpf_attr wish;
    std::memset(&wish, 0, sizeof wish);
    wish.prog_id = id;
    return Fd(static_cast<int>(bpf(BPF_PROG_GET_FD_BY_ID, wish)));
}

Result<void> attach(const Fd& group, const Fd& program, const Fd& instead_of) {
    bpf_attr wish;
    std::memset(&wish, 0, sizeof wish);
    wish.target_fd = static_cast<__u32>(group.get());
    wish.attach_bpf_fd = static_cast<__u32>(program.get());
    wish.attach_type = BPF_CGROUP_DEVICE;
    wish.attach_flags = BPF_F_ALLOW_MULTI;
    if (instead_of.is_open()) {
        wish.attach_flags |= BPF_F_REPLACE;
        wish.replace_bpf_fd = static_cast<__u32>(instead_of.get());
    }
    if (bpf(BPF_PROG_ATTACH, wish) != 0) return fail_errno("set the device rules of the control group", errno);
    return {};
}

Result<void> detach(const Fd& group, const Fd& program) {
    bpf_attr wish;
    std::memset(&wish, 0, sizeof wish);
    wish.target_fd = static_cast<__u32>(group.get());
    wish.attach_bpf_fd = static_cast<__u32>(program.get());
    wish.attach_type = BPF_CGROUP_DEVICE;
    if (bpf(BPF_PROG_DETACH, wish) != 0) return fail_errno("take away old device rules", errno);
    return {};
}

void collect(const std::string& folder, int depth, std::vector<DeviceRule>& out) {
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(folder.c_str()), ::closedir);
    if (!stream || depth > kFoldersMax) return;
    while (const dirent* entry = ::readdir(stream.get())) {
        const std::string name = entry->d_name;
        struct stat status{};
        const std::string path = folder + "/" + name;
        if (name == "." || name == ".." || ::lstat(path.c_str(), &status) != 0) continue;
        if (S_ISDIR(status.st_mode)) collect(path, depth + 1, out);
        if (!S_ISBLK(status.st_mode) && !S_ISCHR(status.st_mode)) continue;
        DeviceRule rule{.type = S_ISBLK(status.st_mode) ? 'b' : 'c'};
        rule.major = gnu_dev_major(status.st_rdev);
        rule.minor = gnu_dev_minor(status.st_rdev);
        rule.write = (status.st_mode & 0222) != 0;
        out.push_back(rule);
    }
}

}  // namespace

std::vector<DeviceRule> default_device_rules() {
    std::vector<DeviceRule> out = {
        {.type = 'b', .read = false, .write = false},
        {.type = 'c', .read = false, .write = false},
    };
    // null, zero, full, random, urandom, tty, console, ptmx
    for (const auto& [major, minor] : {
             std::pair{1U, 3U},
             {1U, 5U},
             {1U, 7U},
             {1U, 8U},
             {1U, 9U},
             {5U, 0U},
             {5U, 1U},
             {5U, 2U}
    })
        out.push_back({.type = 'c', .major = major, .minor = minor});
    out.push_back({.type = 'c', .major = 136});  // pts
    return out;
}

std::vector<DeviceRule> rules_for_nodes(const std::string& folder) {
    std::vector<DeviceRule> out;
    collect(folder, 0, out);
    return out;
}

std::vector<DeviceRule> rules_of_group(const std::string& dev_folder, const std::vector<dev_t>& plugged) {
    std::vector<DeviceRule> out = default_device_rules();
    for (DeviceRule& rule : rules_for_nodes(dev_folder)) out.push_back(rule);
    for (const dev_t device : plugged) out.push_back({'b', gnu_dev_major(device), gnu_dev_minor(device)});
    return out;
}

std::vector<bpf_insn> device_program(const std::vector<DeviceRule>& rules) {
    std::vector<bpf_insn> out = {
        load(BPF_REG_2, offsetof(bpf_cgroup_dev_ctx, access_type)),
        instruction(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_3, BPF_REG_2, 0, 0),
        instruction(BPF_ALU64 | BPF_AND | BPF_K, BPF_REG_2, 0, 0, 0xffff),
        instruction(BPF_ALU64 | BPF_RSH | BPF_K, BPF_REG_3, 0, 0, 16),
        load(BPF_REG_4, offsetof(bpf_cgroup_dev_ctx, major)),
        load(BPF_REG_5, offsetof(bpf_cgroup_dev_ctx, minor)),
    };
    for (const DeviceRule& rule : rules) add_rule(out, rule);
    out.push_back(set(BPF_REG_0, 0));
    out.push_back(leave());
    return out;
}

Result<void> set_device_rules(const std::string& group_folder, const std::vector<DeviceRule>& rules) {
    const Fd group(::open(group_folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!group.is_open()) return fail_errno("open \"" + group_folder + "\"", errno);
    TRY(const Fd program, load_program(device_program(rules)));
    TRY(const std::vector<std::uint32_t> before, attached(group));
    // Every attached program must allow: the first is replaced in one step, the others go after that.
    Fd first;
    if (!before.empty()) first = program_of(before.front());
    if (!before.empty() && !first.is_open()) return fail_errno("open the device rules of the control group", errno);
    TRY_DO(attach(group, program, first));
    for (std::size_t i = 1; i < before.size(); ++i) {
        const Fd old = program_of(before[i]);
        if (old.is_open()) TRY_DO(detach(group, old));
    }
    return {};
}

}  // namespace berth::node
