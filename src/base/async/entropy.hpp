// Port: randomness. Production asks the kernel; the simulation has a seeded stream per actor.
#pragma once

#include <cstdint>
#include <string>

#include "base/text.hpp"

namespace berth {

class Entropy {
public:
    virtual ~Entropy() = default;
    virtual std::uint64_t next() = 0;
};

/// A random version 4 UUID in its usual form.
Uid new_uid(Entropy& entropy);

/// `count` characters of Kubernetes' generateName alphabet.
std::string random_suffix(Entropy& entropy, int count);

}  // namespace berth
