"""Real disks and their traces, and a small disk for tests that change one thing in it."""

import os
from pathlib import Path

import pytest

MEASUREMENTS = os.environ.get("RAIDLAB_MEASUREMENTS", "")
WHOLE = Path(MEASUREMENTS) / "disksim"
FIRST = Path(__file__).parents[2] / "data" / "disksim"
"""The first 1,500 requests of three of DiskSim's validation traces."""
needs_traces = pytest.mark.skipif(
    not MEASUREMENTS or not WHOLE.is_dir(),
    reason="RAIDLAB_MEASUREMENTS names no folder with disksim traces",
)
PARV = """
# A comment { with [ marks ] = ,
disksim_bus BUS1 {
   type = 1,
   Read block transfer time = 0.05, Write block transfer time = 0.2
}
source small.diskspecs
instantiate [ bus1 ] as BUS1
instantiate [ disk0, disk1 ] as SMALL
topology disksim_iodriver driver0 [ disksim_bus bus1 [ disksim_disk disk0 [] ] ]
"""
DISKSPECS = """
disksim_disk SMALL {
   Model = source small.model,
   Scheduler = disksim_ioqueue { Scheduling policy = 1 },
   Bulk sector transfer time = 0.1,
   Number of buffer segments = 4, Segment size (in blks) = 100,
   Buffer continuous read = 3, Maximum read-ahead (blks) = 50,
   High (read) water mark = 0.5,
   Fast write level = 1,
   Read hit over. after read = 0.2, Read hit over. after write = 0.3,
   Read miss over. after read = 0.4, Read miss over. after write = 0.5,
   Write hit over. after read = 0.6, Write hit over. after write = 0.7,
   Write miss over. after read = 9.9, Write miss over. after write = 9.9,
   Read completion overhead = 0.01
}
"""
MODEL = """
dm_disk SMALL_model {
   Number of data surfaces = 2, Number of cylinders = 100,
   Layout Model = dm_layout_g1 {
      LBN-to-PBN mapping scheme = 0,
      Sparing scheme used = 9,
      Zones = [
         dm_layout_g1_zone {
            First cylinder number = 0, Last cylinder number = 59, Blocks per track = 100,
            Offset of first block = 0.0, Skew for track switch = 110, Number of spares = 20,
            slips = [ 5, 7, ], defects = [ ]
         },
         dm_layout_g1_zone {
            First cylinder number = 61, Last cylinder number = 99, Blocks per track = 80,
            Skew for cylinder switch = 12, slips = [], defects = [ 3, 3 ]
         }
      ]
   },
   Mechanical Model = dm_mech_g1 {
      Seek type = extracted, Full seek curve = small.seek,
      Add. write settling delay = -0.1, Head switch time = 0.5,
      Rotation speed (in rpms) = 6000
   }
}
"""
SEEK = """Seek distances measured: 3
1,  1.0
10, 2.0 0.01
99, 5.0
"""


def write(folder: Path, **changes: tuple[str, str]) -> Path:
    """Writes the files, with one text replaced in those named, and gives the `.parv`."""
    texts = {"parv": PARV, "diskspecs": DISKSPECS, "model": MODEL, "seek": SEEK}
    for name, text in texts.items():
        if name in changes:
            old, new = changes[name]
            assert old in text, f"{old!r} is not in the {name} file"
            text = text.replace(old, new)
        (folder / f"small.{name}").write_text(text)
    return folder / "small.parv"
