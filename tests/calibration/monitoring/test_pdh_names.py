"""Counters of Windows in its languages: bytes are no requests."""

from __future__ import annotations

import pytest

from raidlab.calibration.monitoring.layers import Layer
from raidlab.calibration.monitoring.pdh_names import perfmon_counter, perfmon_layer
from raidlab.calibration.monitoring.samples import Quantity

WRITTEN = (
    ("Disco físico", "Bytes de escritura en disco/s"),
    ("Disco fisico", "Byte scritti su disco/sec"),
    ("Disque physique", "Écritures disque, octets/s"),
    ("Physikalischer Datenträger", "Bytes geschrieben/s"),
    ("Fysisk disk", "Disk - skrivna byte/s"),
    ("FizikselDisk", "Disk Yazma Bayt/sn"),
    ("Fizikai lemez", "Írási sebesség (bájt/s)"),
    ("Fysieke schijf", "Geschreven bytes per seconde"),
    ("Dysk fizyczny", "Bajty zapisu dysku/s"),
    ("Fyzický disk", "Bajty zapisování na disk/s"),
    ("Физический диск", "Скорость записи на диск (байт/с)"),
)


@pytest.mark.parametrize(("disk", "counter"), WRITTEN)
def test_bytes_written_a_second(disk: str, counter: str) -> None:
    found = perfmon_counter(counter)
    assert perfmon_layer(disk) is Layer.DISK
    assert found is not None and found.quantity is Quantity.WRITE_BYTES
