// A log that forgets with the process: for tests and for servers that need no disk.
#include "store/store.hpp"

namespace berth::store {
namespace {

class MemoryLog final : public Log {
public:
    Result<Revision> load(const std::function<void(Entry)>& each) override {
        for (const auto& [revision, entry] : rows_) each(entry);
        return highest_;
    }

    Result<void> append(const std::vector<Entry>& entries) override {
        for (const Entry& entry : entries) {
            rows_.erase(entry.replaces);
            if (entry.content) rows_[entry.revision] = entry;
            highest_ = entry.revision;
        }
        return {};
    }

private:
    std::map<Revision, Entry> rows_;
    Revision highest_ = 0;
};

}  // namespace

std::unique_ptr<Log> memory_log() { return std::make_unique<MemoryLog>(); }

}  // namespace berth::store
