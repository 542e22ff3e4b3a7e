// Where a stream finds its way: each layer is told by its first bytes, decompressed, and looked at again.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "image/decode.hpp"
#include "image/format.hpp"

namespace berth::image {

class Intake final : public Stage {
public:
    /// Asked once, at the innermost layer: where do the bytes of this disk go? `header` are the first of them; `depth`
    /// is how many compressions were taken off.
    using Route = std::function<Result<std::unique_ptr<Stage>>(Format format, Chunk header, int depth)>;

    explicit Intake(Route route) : Intake(std::make_shared<Route>(std::move(route)), {}) {}

    Result<void> write(Chunk chunk) override;
    Result<void> finish() override;

private:
    Intake(std::shared_ptr<Route> route, std::set<Format> seen) : route_(std::move(route)), seen_(std::move(seen)) {}
    Result<void> choose();

    std::shared_ptr<Route> route_;
    std::set<Format> seen_;  ///< each compression is undone once
    std::vector<std::byte> header_;
    std::unique_ptr<Stage> next_;
};

}  // namespace berth::image
