"""Drives that take a fixed time, as files of one's own."""

import pytest

STATION = """
kind = "station"
name = "{name}"
interface = "{interface}"
capacity = "{capacity}"
service = "1 ms"
[sources]
all = "assumed"
"""


@pytest.fixture(scope="session")
def drives(tmp_path_factory):
    """The folder of drives that take 1 ms: on SAS, on SATA, on PCIe, and a small one on SAS."""
    folder = tmp_path_factory.mktemp("drives")
    links = {"sas": "sas-6g", "sata": "sata-6g", "card": "pcie-3.0-x4", "small": "sas-6g"}
    for name, interface in links.items():
        capacity = "2 MiB" if name == "small" else "100 GB"
        text = STATION.format(name=name, interface=interface, capacity=capacity)
        (folder / f"{name}.toml").write_text(text)
    return folder


QUEUE = """
kind = "station"
name = "queue"
capacity = "100 GB"
service = "1 ms"
distribution = "exponential"
[sources]
all = "assumed"
"""


@pytest.fixture
def queue(tmp_path):
    """The file of a queue of 1 ms with exponential times, in the test's own folder."""
    path = tmp_path / "queue.toml"
    path.write_text(QUEUE)
    return str(path)


TINY = """
kind = "station"
name = "{name}"
interface = "sas-6g"
capacity = "128 KiB"
service = "100 us"
distribution = "exponential"
settle = "{settle}"
[sources]
all = "assumed"
"""


@pytest.fixture(scope="session")
def tiny_drives(tmp_path_factory):
    """The folder of two drives so small that everything meets everything; one forgets."""
    folder = tmp_path_factory.mktemp("tiny")
    for name, settle in (("tiny", "0 s"), ("forgetful", "2 ms")):
        (folder / f"{name}.toml").write_text(TINY.format(name=name, settle=settle))
    return folder
