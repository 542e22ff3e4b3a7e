// See iso9660.hpp. Layout: 16 empty blocks; the primary and the Joliet descriptor and their terminator; four path
// tables; the folders of both trees; the files, shared by both.
#include "launcher/plan/iso9660.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/check.hpp"

namespace berth::launcher {
namespace {

constexpr std::size_t kBlock = 2048;
constexpr std::uint32_t kPrimaryAt = 16;
constexpr std::uint32_t kTablesAt = 19;  // primary L and M, Joliet L and M; one block each
constexpr std::uint32_t kFoldersAt = 23;

struct File {
    std::string name;
    const std::string* content = nullptr;
    std::uint32_t at = 0;  // block
};

struct Folder {
    std::string name;
    std::size_t parent = 0;
    std::vector<std::size_t> folders;
    std::vector<File> files;
    std::uint32_t at[2] = {};  // block of its records in each tree
};

enum Tree { primary, joliet };

std::uint32_t blocks(std::size_t bytes) { return static_cast<std::uint32_t>((bytes + kBlock - 1) / kBlock); }

void pad(std::string& out) { out.resize(blocks(out.size()) * kBlock); }

std::string little(std::uint32_t value, int length) {
    std::string out;
    for (int i = 0; i < length; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
    return out;
}

std::string big(std::uint32_t value, int length) {
    std::string out = little(value, length);
    std::ranges::reverse(out);
    return out;
}

std::string both(std::uint32_t value, int length) { return little(value, length) + big(value, length); }

std::string ucs2(std::string_view name) {
    std::string out;
    for (const char c : name) out += std::string{'\0', c};
    return out;
}

std::string upper(std::string_view name) {
    std::string out(name);
    for (char& c : out) {
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    return out;
}

std::string name_in(Tree tree, std::string_view name, bool is_folder) {
    if (tree == joliet) return ucs2(is_folder ? std::string(name) : std::string(name) + ";1");
    if (is_folder) return upper(name);
    return upper(name) + (name.find('.') == name.npos ? ".;1" : ";1");
}

// Rock Ridge's POSIX attributes, and the name as it was written.
std::string rock_ridge(std::string_view name, bool is_folder) {
    std::string out =
        std::string("PX\x24\x01", 4) + both(is_folder ? 0040555 : 0100444, 4) + both(1, 4) + both(0, 4) + both(0, 4);
    if (!name.empty())
        out += std::string("NM") + static_cast<char>(5 + name.size()) + std::string("\x01\0", 2) + std::string(name);
    return out;
}

std::string record(
    const std::string& id, std::uint32_t at, std::size_t size, bool is_folder, const std::string& system_use
) {
    const std::string date("\x46\x01\x01\0\0\0\0", 7);  // 1970-01-01: the same input gives the same bytes
    std::string body = std::string(1, '\0') + both(at, 4) + both(static_cast<std::uint32_t>(size), 4) + date;
    body += static_cast<char>(is_folder ? 2 : 0);
    body += std::string(2, '\0') + both(1, 2) + static_cast<char>(id.size()) + id;
    if (id.size() % 2 == 0) body += '\0';
    body += system_use;
    if (body.size() % 2 == 0) body += '\0';  // with its length byte the record is even
    return static_cast<char>(body.size() + 1) + body;
}

class Image {
public:
    Image(std::string_view label, const std::map<std::string, std::string>& files) : label_(label) {
        folders_.emplace_back();
        for (const auto& [path, content] : files) insert(path, content);
        place();
    }

    [[nodiscard]] std::string write() const {
        std::string out(kPrimaryAt * kBlock, '\0');
        out += descriptor(primary) + descriptor(joliet);
        out += std::string(
            "\xff"
            "CD001\x01",
            7
        );
        pad(out);
        for (const Tree tree : {primary, joliet}) {
            out += table(tree, little);
            pad(out);
            out += table(tree, big);
            pad(out);
        }
        for (const Tree tree : {primary, joliet}) {
            for (std::size_t i = 0; i < folders_.size(); ++i) {
                out += records(tree, i);
                pad(out);
            }
        }
        for (const Folder& folder : folders_) {
            for (const File& file : folder.files) {
                out += *file.content;
                pad(out);
            }
        }
        CHECK(out.size() == end_ * kBlock);
        return out;
    }

private:
    void insert(std::string_view path, const std::string& content) {
        std::size_t folder = 0;
        for (std::size_t slash = path.find('/'); slash != path.npos; slash = path.find('/')) {
            folder = folder_in(folder, path.substr(0, slash));
            path.remove_prefix(slash + 1);
        }
        CHECK(!path.empty() && path.size() <= 60);
        folders_[folder].files.push_back({.name = std::string(path), .content = &content});
    }

    std::size_t folder_in(std::size_t parent, std::string_view name) {
        for (const std::size_t i : folders_[parent].folders) {
            if (folders_[i].name == name) return i;
        }
        folders_.push_back({.name = std::string(name), .parent = parent, .folders = {}, .files = {}});
        folders_[parent].folders.push_back(folders_.size() - 1);
        return folders_.size() - 1;
    }

    void place() {
        std::uint32_t at = kFoldersAt;
        for (const Tree tree : {primary, joliet}) {
            for (std::size_t i = 0; i < folders_.size(); ++i) {
                folders_[i].at[tree] = at;
                at += blocks(records(tree, i).size());
            }
        }
        for (Folder& folder : folders_) {
            for (File& file : folder.files) {
                file.at = at;
                at += blocks(file.content->size());
            }
        }
        end_ = at;
    }

    // The records of one folder, in order of their names; no record crosses a block.
    [[nodiscard]] std::string records(Tree tree, std::size_t index) const {
        const Folder& folder = folders_[index];
        const std::string first =
            index == 0 ? std::string("SP\x07\x01\xbe\xef\0", 7) : std::string();  // Rock Ridge is used
        const auto extra = [&](std::string_view name, bool is_folder) {
            return tree == primary ? rock_ridge(name, is_folder) : std::string();
        };
        std::vector<std::pair<std::string, std::string>> entries;
        for (const std::size_t i : folder.folders) {
            const std::string id = name_in(tree, folders_[i].name, true);
            entries.emplace_back(id, record(id, folders_[i].at[tree], kBlock, true, extra(folders_[i].name, true)));
        }
        for (const File& file : folder.files) {
            const std::string id = name_in(tree, file.name, false);
            entries.emplace_back(id, record(id, file.at, file.content->size(), false, extra(file.name, false)));
        }
        std::ranges::sort(entries);
        const std::string self = tree == primary ? first + extra("", true) : std::string();
        std::string out = record(std::string(1, '\0'), folder.at[tree], kBlock, true, self);
        out += record(std::string(1, '\1'), folders_[folder.parent].at[tree], kBlock, true, extra("", true));
        for (const auto& [id, bytes] : entries) out += bytes;
        CHECK(out.size() <= kBlock);  // a folder of more files than we ever put into one
        return out;
    }

    [[nodiscard]] std::string table(Tree tree, std::string (*number)(std::uint32_t, int)) const {
        std::string out;
        for (std::size_t i = 0; i < folders_.size(); ++i) {
            const std::string id = i == 0 ? std::string(1, '\0') : name_in(tree, folders_[i].name, true);
            out += static_cast<char>(id.size());
            out += '\0';
            out += number(folders_[i].at[tree], 4) + number(static_cast<std::uint32_t>(folders_[i].parent + 1), 2) + id;
            if (id.size() % 2 == 1) out += '\0';
        }
        CHECK(out.size() <= kBlock);
        return out;
    }

    [[nodiscard]] std::string descriptor(Tree tree) const {
        const bool is_joliet = tree == joliet;
        const auto text = [is_joliet](std::string_view value, std::size_t length) {
            std::string out = is_joliet ? ucs2(value) : std::string(value);
            while (out.size() < length) out += is_joliet ? std::string("\0 ", 2) : std::string(" ");
            out.resize(length);
            return out;
        };
        const std::uint32_t tables_at = kTablesAt + (is_joliet ? 2 : 0);
        std::string out = std::string(1, is_joliet ? '\2' : '\1') + std::string("CD001\x01\0", 7);
        out += text("", 32) + text(label_, 32) + std::string(8, '\0') + both(end_, 4);
        std::string escape = is_joliet ? "%/E" : "";  // UCS-2 level 3
        escape.resize(32);
        out += escape + both(1, 2) + both(1, 2) + both(kBlock, 2);
        out += both(static_cast<std::uint32_t>(table(tree, little).size()), 4);
        out += little(tables_at, 4) + little(0, 4) + big(tables_at + 1, 4) + big(0, 4);
        out += record(std::string(1, '\0'), folders_[0].at[tree], kBlock, true, "");
        out +=
            text("", 128) + text("", 128) + text("", 128) + text("", 128) + text("", 37) + text("", 37) + text("", 37);
        for (int i = 0; i < 4; ++i) out += std::string(16, '0') + '\0';  // no dates
        out += std::string("\x01\0", 2);
        pad(out);
        return out;
    }

    std::string label_;
    std::vector<Folder> folders_;
    std::uint32_t end_ = 0;
};

}  // namespace

std::string iso9660(std::string_view label, const std::map<std::string, std::string>& files) {
    return Image(label, files).write();
}

}  // namespace berth::launcher
