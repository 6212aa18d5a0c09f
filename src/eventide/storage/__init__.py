"""Files and bundles on disk, whole or not there at all.

A bundle is a directory of safetensors with a manifest; models and checkpoints use the same format.
``manifest.json`` names every other file with its size and sha256, and holds a sha256 of itself. A
bundle is written to a temporary sibling, flushed, and exchanged with the older one in a single step
of the file system, so that a crash leaves the old or the new bundle, never half of one.

Reading writes nothing. A reader that meets a replacement starts again, and what it returns is what
one manifest describes, since every file is checked against it. Bundles are never unpickled.
"""

from eventide.storage.atomic import atomic_file, expanded, flush, folder_made, remove_empty, writing
from eventide.storage.bundle import Bundle, damaged, holds_manifest, is_bundle, read_bundle
from eventide.storage.replacing import other_files, tidy, write_bundle

__all__ = [
    "Bundle", "atomic_file", "damaged", "expanded", "flush", "folder_made", "holds_manifest",
    "is_bundle", "other_files", "read_bundle", "remove_empty", "tidy", "write_bundle", "writing",
]  # fmt: skip
