// The lines of a disk: its DataVolume, its claim, its volume.
#pragma once

#include "explain/line.hpp"
#include "explain/view.hpp"

namespace berth::explain {

struct Disk {
    std::string volume;
    std::string claim;
    bool by_data_volume = false;
};

Disk disk_of(const api::VmVolume& volume);

/// The claim has a DataVolume that fills it, or must have one.
bool is_filled(const View& view, const Disk& disk);

Line data_volume_line(const View& view, const Disk& disk, int depth);
Line claim_line(const View& view, const Disk& disk, int depth);
std::optional<Line> volume_line(const View& view, const Disk& disk, int depth);

}  // namespace berth::explain
