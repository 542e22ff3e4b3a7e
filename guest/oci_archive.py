"""Packs one disk image as a containerDisk: oci_archive.py DISK ARCHIVE

The archive is an OCI image layout in a tar file, with one uncompressed layer that holds /disk/<name of DISK>. The file
belongs to uid 107, as KubeVirt wants it (https://kubevirt.io/user-guide/storage/disks_and_volumes/#containerdisk).
The same disk gives the same bytes. Layout: https://github.com/opencontainers/image-spec/blob/v1.1.0/image-layout.md
"""

import hashlib
import io
import json
import os
import sys
import tarfile

OWNER = 107


def entry(name, kind, mode, owner=0, size=0):
    info = tarfile.TarInfo(name)
    info.type, info.mode, info.uid, info.gid, info.size = kind, mode, owner, owner, size
    return info


def layer_of(disk):
    """The layer as bytes: it is kept in memory, so the disk should be small."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w", format=tarfile.USTAR_FORMAT) as layer, open(disk, "rb") as data:
        layer.addfile(entry("disk", tarfile.DIRTYPE, 0o755, OWNER))
        size = os.fstat(data.fileno()).st_size
        layer.addfile(entry("disk/" + os.path.basename(disk), tarfile.REGTYPE, 0o444, OWNER, size), data)
    return content.getvalue()


def main(disk, archive):
    blobs = {}

    def blob(media_type, content):
        if not isinstance(content, bytes):
            content = json.dumps(content, sort_keys=True).encode()
        digest = hashlib.sha256(content).hexdigest()
        blobs[digest] = content
        return {"mediaType": media_type, "digest": "sha256:" + digest, "size": len(content)}

    kind = "application/vnd.oci.image."
    layer = blob(kind + "layer.v1.tar", layer_of(disk))
    config = {
        "architecture": "amd64",
        "os": "linux",
        "config": {},
        "rootfs": {"type": "layers", "diff_ids": [layer["digest"]]},
        "history": [{"created_by": "guest/build.sh"}],
    }
    manifest = {
        "schemaVersion": 2,
        "mediaType": kind + "manifest.v1+json",
        "config": blob(kind + "config.v1+json", config),
        "layers": [layer],
    }
    reference = blob(kind + "manifest.v1+json", manifest)
    reference["annotations"] = {"org.opencontainers.image.ref.name": "latest"}
    reference["platform"] = {"architecture": "amd64", "os": "linux"}
    index = {"schemaVersion": 2, "mediaType": kind + "index.v1+json", "manifests": [reference]}

    files = {"oci-layout": b'{"imageLayoutVersion": "1.0.0"}', "index.json": json.dumps(index).encode()}
    files.update({"blobs/sha256/" + digest: content for digest, content in blobs.items()})
    with tarfile.open(archive, mode="w", format=tarfile.USTAR_FORMAT) as out:
        for directory in ("blobs", "blobs/sha256"):
            out.addfile(entry(directory, tarfile.DIRTYPE, 0o755))
        for name, content in files.items():
            out.addfile(entry(name, tarfile.REGTYPE, 0o644, size=len(content)), io.BytesIO(content))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
