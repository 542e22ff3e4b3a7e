// The programs inside pods: this binary under another name, or `berth worker …`.
#pragma once

#include <functional>

namespace berth::cli {

using Program = std::function<int(int argc, char** argv)>;

/// The program that argv asks for; none: it is the command line.
Program program_of(int argc, char** argv);

}  // namespace berth::cli
