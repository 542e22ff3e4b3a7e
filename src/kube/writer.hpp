// Executes the intents of plans against the API, and notes what each wrote, so that the engine can wait to see it.
#pragma once

#include <functional>
#include <vector>

#include "api/plan.hpp"
#include "kube/cache.hpp"

namespace berth::kube {

/// One own write that a key's next view must show.
struct Written {
    const CacheBase* cache = nullptr;
    std::uint64_t version = 0;  ///< for a change: the cache has seen it
    std::string ns, name;       ///< for a deletion: the object is gone, another one, or deleting
    Uid uid;

    [[nodiscard]] bool is_visible() const;
};

/// Finds the cache of a kind, or nullptr.
using FindCache = std::function<const CacheBase*(const api::Kind&)>;

/// Idempotent: what is already so is a success (a create of our own object, a delete or patch of what is gone).
class Writer {
public:
    Writer(Api server, FindCache find) : server_(std::move(server)), find_(std::move(find)) {}

    // Errors as of kube::Api; already_exists when the object of that name is another owner's or is terminating.
    Task<Result<void>> run(api::Create create, std::vector<Written>& written);
    Task<Result<void>> run(api::Patch patch, std::vector<Written>& written);
    Task<Result<void>> run(api::Delete remove, std::vector<Written>& written);
    Task<Result<void>> run(api::Bind bind, std::vector<Written>& written);

private:
    void note(const api::Kind& kind, const Document& document, std::vector<Written>& written) const;

    Api server_;
    FindCache find_;
};

}  // namespace berth::kube
