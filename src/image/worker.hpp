// The program of a worker's container: `berth worker import`.
#pragma once

#include "image/job.hpp"

namespace berth::image {

/// Runs the import that the environment describes, leaves a termination message, and returns the exit code
/// (datavolume::WorkerExit). `argv` are the words after `berth`: "worker", "import".
int worker_main(int argc, const char* const* argv);

/// The same with the job given.
int run_import(const Job& job);

}  // namespace berth::image
