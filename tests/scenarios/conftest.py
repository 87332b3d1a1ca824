"""Drives that take a fixed time, as files of one's own."""

import pytest

STATION = """
kind = "station"
name = "{name}"
interface = "{interface}"
capacity = "100 GB"
service = "1 ms"
[sources]
all = "assumed"
"""


@pytest.fixture(scope="session")
def drives(tmp_path_factory):
    """The folder of three drives that take 1 ms: on SAS, on SATA, on PCIe."""
    folder = tmp_path_factory.mktemp("drives")
    for name, interface in (("sas", "sas-6g"), ("sata", "sata-6g"), ("card", "pcie-3.0-x4")):
        text = STATION.format(name=name, interface=interface)
        (folder / f"{name}.toml").write_text(text)
    return folder
