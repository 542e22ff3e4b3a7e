// Descriptions of the virtual hardware and its volumes; for the .cpp files of this folder. Complete, except where a
// field is any JSON: a field that is not listed is a typing error.
#pragma once

#include "api/core_fields.hpp"
#include "api/kubevirt.hpp"

namespace berth::api {

template <>
struct Describe<Cpu> {
    using T = Cpu;
    static constexpr auto fields = std::tuple{
        Field{"cores",                 &T::cores,                   "Cores of each socket."                                                 },
        Field{"sockets",               &T::sockets,                 "Sockets; more can be plugged into a running machine, up to maxSockets."},
        Field{"maxSockets",            &T::max_sockets,             "The most sockets the machine can be given while it runs."              },
        Field{"threads",               &T::threads,                 "Threads of each core."                                                 },
        Field{"model",                 &T::model,                   "CPU model: host-model, host-passthrough or a name that libvirt knows." },
        Field{"features",              &T::features,                "CPU features with their policies."                                     },
        Field{"dedicatedCpuPlacement", &T::dedicated_cpu_placement, "Pins each virtual CPU to a CPU of its own."                            },
        Field{"numa",                  &T::numa,                    "NUMA nodes as the guest sees them."                                    },
        Field{"isolateEmulatorThread", &T::isolate_emulator_thread, "Gives the emulator a CPU of its own."                                  },
        Field{"realtime",              &T::realtime,                "Tuning for real-time guests."                                          },
    };
};

template <>
struct Describe<Memory> {
    using T = Memory;
    static constexpr auto fields = std::tuple{
        Field{"guest",            &T::guest,             "Memory the guest sees. Default: the requested memory."},
        Field{"maxGuest",         &T::max_guest,         "The most memory the guest can be given while it runs."},
        Field{"hugepages",        &T::hugepages,         "Backs the guest's memory by huge pages of this size." },
        Field{"reservedOverhead", &T::reserved_overhead, "More memory for the process around the guest."        },
    };
};

template <>
struct Describe<DomainResources> {
    using T = DomainResources;
    static constexpr auto fields = std::tuple{
        Field{"requests",                &T::requests,                  "CPU and memory set aside for the guest on its node."},
        Field{"limits",                  &T::limits,                    "The most CPU and memory the guest may use."         },
        Field{
              "overcommitGuestOverhead", &T::overcommit_guest_overhead,
              "Leaves the emulator's own memory out of the request."
        },
    };
};

template <>
struct Describe<DiskTarget> {
    using T = DiskTarget;
    static constexpr auto fields = std::tuple{
        Field{"bus",         &T::bus,         "The bus the guest finds the disk on."            }
        .values("virtio sata scsi usb"),
        Field{"readonly",    &T::read_only,   "The guest cannot write to it."                   },
        Field{"tray",        &T::tray,        "Tray of a CD-ROM drive."                         }
        .values("open closed"),
        Field{"pciAddress",  &T::pci_address, "PCI address in the guest, such as 0000:81:01.10."},
        Field{"reservation", &T::reservation, "Supports persistent reservations of SCSI."       },
    };
};

template <>
struct Describe<Disk> {
    using T = Disk;
    static constexpr auto fields = std::tuple{
        Field{"name",                 &T::name,                   "Name of the volume this disk shows to the guest."                    }
        .require(),
        Field{"disk",                 &T::disk,                   "Shows the volume as a disk."                                         },
        Field{"cdrom",                &T::cdrom,                  "Shows the volume as a CD-ROM."                                       },
        Field{"lun",                  &T::lun,                    "Passes SCSI commands through to the volume."                         },
        Field{
              "bootOrder",            &T::boot_order,
              "Place in the boot order, from 1. Disks without one are tried only when no disk has one."
        },
        Field{"serial",               &T::serial,                 "Serial number; the guest finds the disk under it in /dev/disk/by-id."},
        Field{"cache",                &T::cache,                  "Cache mode."                                                         }
        .values("none writethrough writeback"),
        Field{"io",                   &T::io,                     "How the emulator reads and writes."                                  }
        .values("native threads default io_uring"),
        Field{"dedicatedIOThread",    &T::dedicated_io_thread,    "A thread of its own for this disk."                                  },
        Field{"tag",                  &T::tag,                    "Tag handed to the guest with its metadata."                          },
        Field{"blockSize",            &T::block_size,             "Sizes of logical and physical blocks."                               },
        Field{"errorPolicy",          &T::error_policy,           "What happens when the storage fails."                                }
        .values(
            "stop ignore report enospace"
        ),
        Field{"shareable",            &T::shareable,              "Several machines may write to the volume at the same time."          },
        Field{"changedBlockTracking", &T::changed_block_tracking, "Keeps track of what changed since the last backup."                  },
    };
};

template <>
struct Describe<Devices> {
    using T = Devices;
    static constexpr auto fields = std::tuple{
        Field{"disks",                      &T::disks,                        "Disks, CD-ROMs and LUNs. Each names one of the volumes."        },
        Field{"interfaces",                 &T::interfaces,                   "Network interfaces. Each names one of the networks."            },
        Field{"inputs",                     &T::inputs,                       "Tablets and other input devices."                               },
        Field{"filesystems",                &T::filesystems,                  "Volumes shared as file systems instead of disks."               },
        Field{"gpus",                       &T::gpus,                         "GPUs passed through from the node."                             },
        Field{"hostDevices",                &T::host_devices,                 "Other devices passed through from the node."                    },
        Field{"watchdog",                   &T::watchdog,                     "A watchdog that acts when the guest hangs."                     },
        Field{"tpm",                        &T::tpm,                          "A TPM."                                                         },
        Field{"sound",                      &T::sound,                        "A sound card."                                                  },
        Field{"video",                      &T::video,                        "The video device."                                              },
        Field{"rng",                        &T::rng,                          "Random numbers from the node."                                  },
        Field{"panicDevices",               &T::panic_devices,                "Devices that report a crash of the guest."                      },
        Field{"downwardMetrics",            &T::downward_metrics,             "A serial port with metrics of the node."                        },
        Field{"clientPassthrough",          &T::client_passthrough,           "USB devices of a client."                                       },
        Field{
              "autoattachPodInterface",     &T::autoattach_pod_interface,
              "Adds an interface to the pod network. Default: true."
        },
        Field{"autoattachGraphicsDevice",   &T::autoattach_graphics_device,   "Adds a graphics device. Default: true."                         },
        Field{"autoattachSerialConsole",    &T::autoattach_serial_console,    "Adds a serial console. Default: true."                          },
        Field{"logSerialConsole",           &T::log_serial_console,           "Keeps what the serial console prints as a log."                 },
        Field{"autoattachMemBalloon",       &T::autoattach_mem_balloon,       "Adds a memory balloon. Default: true."                          },
        Field{"autoattachInputDevice",      &T::autoattach_input_device,      "Adds an input device."                                          },
        Field{"autoattachVSOCK",            &T::autoattach_vsock,             "Adds a VSOCK address."                                          },
        Field{"blockMultiQueue",            &T::block_multi_queue,            "One queue of each disk for each CPU."                           },
        Field{
              "networkInterfaceMultiqueue", &T::network_interface_multiqueue, "One queue of each interface for each CPU."
        },
        Field{
              "useVirtioTransitional",      &T::use_virtio_transitional,
              "Devices that guests with old virtio drivers understand."
        },
        Field{"disableHotplug",             &T::disable_hotplug,              "Disks can neither be plugged in nor out while the machine runs."},
    };
};

template <>
struct Describe<Machine> {
    using T = Machine;
    static constexpr auto fields = std::tuple{
        Field{"type", &T::type, "QEMU machine type, such as q35."},
    };
};

template <>
struct Describe<Firmware> {
    using T = Firmware;
    static constexpr auto fields = std::tuple{
        Field{"uuid",       &T::uuid,        "UUID that the firmware reports."       },
        Field{"serial",     &T::serial,      "Serial number of the system."          },
        Field{"bootloader", &T::bootloader,  "BIOS or EFI."                          },
        Field{"kernelBoot", &T::kernel_boot, "Boots a kernel from a container image."},
        Field{"acpi",       &T::acpi,        "Tables handed to the guest."           },
    };
};

template <>
struct Describe<Domain> {
    using T = Domain;
    static constexpr auto fields = std::tuple{
        Field{"cpu",             &T::cpu,               "CPU topology and model."                     },
        Field{"memory",          &T::memory,            "Memory of the guest."                        },
        Field{"resources",       &T::resources,         "What is set aside for the guest on its node."},
        Field{"machine",         &T::machine,           "The machine that is emulated."               },
        Field{"firmware",        &T::firmware,          "Firmware and its identity."                  },
        Field{"features",        &T::features,          "ACPI, Hyper-V and other features."           },
        Field{"clock",           &T::clock,             "Clock and timers."                           },
        Field{"ioThreadsPolicy", &T::io_threads_policy, "How disks share I/O threads."                }
        .values(
            "shared auto supplementalPool"
        ),
        Field{"ioThreads",       &T::io_threads,        "Size of the pool of I/O threads."            },
        Field{"chassis",         &T::chassis,           "What the chassis reports about itself."      },
        Field{"launchSecurity",  &T::launch_security,   "Encrypted memory."                           },
        Field{"rebootPolicy",    &T::reboot_policy,     "What a reboot of the guest does."            }
        .values("Reboot Terminate"),
        Field{"devices",         &T::devices,           "Disks, interfaces and other devices."        },
    };
};

template <>
struct Describe<ContainerDiskSource> {
    using T = ContainerDiskSource;
    static constexpr auto fields = std::tuple{
        Field{"image",           &T::image,             "Image that holds the disk below /disk."               }
        .require(),
        Field{"imagePullPolicy", &T::image_pull_policy, "When the image is fetched."                           }
        .values("Always IfNotPresent Never"
        ),
        Field{"imagePullSecret", &T::image_pull_secret, "Secret with the credentials of the registry."         },
        Field{"path",            &T::path,              "File in the image. Default: the only one below /disk."},
    };
};

template <>
struct Describe<CloudInitSource> {
    using T = CloudInitSource;
    static constexpr auto fields = std::tuple{
        Field{"userData",             &T::user_data,               "User data as text."           },
        Field{"userDataBase64",       &T::user_data_base64,        "User data in base64."         },
        Field{"secretRef",            &T::secret_ref,              "Secret with the user data."   },
        Field{"networkData",          &T::network_data,            "Network data as text."        },
        Field{"networkDataBase64",    &T::network_data_base64,     "Network data in base64."      },
        Field{"networkDataSecretRef", &T::network_data_secret_ref, "Secret with the network data."},
    };
};

template <>
struct Describe<DataVolumeVolumeSource> {
    using T = DataVolumeVolumeSource;
    static constexpr auto fields = std::tuple{
        Field{"name",         &T::name,         "Name of the DataVolume and of its claim."         }
        .require(),
        Field{"hotpluggable", &T::hotpluggable, "Can be plugged in and out while the machine runs."},
    };
};

template <>
struct Describe<VmClaimSource> {
    using T = VmClaimSource;
    static constexpr auto fields = std::tuple{
        Field{"claimName",    &T::claim_name,   "Name of the claim."                               }
        .require(),
        Field{"readOnly",     &T::read_only,    "The claim is mounted read-only."                  },
        Field{"hotpluggable", &T::hotpluggable, "Can be plugged in and out while the machine runs."},
    };
};

template <>
struct Describe<EphemeralSource> {
    using T = EphemeralSource;
    static constexpr auto fields = std::tuple{
        Field{
              "persistentVolumeClaim", &T::persistent_volume_claim,
              "The claim below; writes are dropped when the machine stops."
        },
    };
};

template <>
struct Describe<EmptyDiskSource> {
    using T = EmptyDiskSource;
    static constexpr auto fields = std::tuple{
        Field{"capacity", &T::capacity, "Size of the disk."}
        .require(),
    };
};

template <>
struct Describe<HostDiskSource> {
    using T = HostDiskSource;
    static constexpr auto fields = std::tuple{
        Field{"path",     &T::path,     "File on the node."                }
        .require(),
        Field{"type",     &T::type,     "Whether a missing file is made."  }
        .values("Disk DiskOrCreate").require(),
        Field{"capacity", &T::capacity, "Size of a file that is made."     },
        Field{"shared",   &T::shared,   "The path is shared between nodes."},
    };
};

template <>
struct Describe<VmVolume> {
    using T = VmVolume;
    static constexpr auto fields = std::tuple{
        Field{"name",                  &T::name,                    "Name that a disk refers to."                          }
        .require(),
        Field{"dataVolume",            &T::data_volume,             "The claim of a DataVolume."                           },
        Field{"persistentVolumeClaim", &T::persistent_volume_claim, "A claim."                                             },
        Field{"ephemeral",             &T::ephemeral,               "A claim whose changes are dropped."                   },
        Field{"memoryDump",            &T::memory_dump,             "A claim that takes a dump of the guest's memory."     },
        Field{"containerDisk",         &T::container_disk,          "A disk in a container image; changes are dropped."    },
        Field{"cloudInitNoCloud",      &T::cloud_init_no_cloud,     "Data for cloud-init, as a NoCloud disk."              },
        Field{"cloudInitConfigDrive",  &T::cloud_init_config_drive, "Data for cloud-init, as a config drive."              },
        Field{"emptyDisk",             &T::empty_disk,              "An empty disk that lives as long as the machine runs."},
        Field{"hostDisk",              &T::host_disk,               "A file on the node."                                  },
        Field{"configMap",             &T::config_map,              "A ConfigMap as a disk or file system."                },
        Field{"secret",                &T::secret,                  "A Secret as a disk or file system."                   },
        Field{"serviceAccount",        &T::service_account,         "The token of a service account."                      },
        Field{"sysprep",               &T::sysprep,                 "Answer files for Windows."                            },
        Field{"downwardAPI",           &T::downward_api,            "Facts about the pod."                                 },
        Field{"downwardMetrics",       &T::downward_metrics,        "Metrics of the node."                                 },
        Field{"containerPath",         &T::container_path,          "A path of the launcher's container as a file system." },
    };
};

}  // namespace berth::api
