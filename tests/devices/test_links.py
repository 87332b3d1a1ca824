"""Links: the published interface tables to the digit, negotiation, expanders."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raidlab.devices.links import Interface, connection_ns, negotiate, wide_port

MIB = 2**20

TABLES = [
    ("sas-3g", 286, 243),
    ("sata-3g", 286, 243),
    ("sas-6g", 572, 486),
    ("sata-6g", 572, 486),
    ("sas-3g-x4", 1144, 973),
    ("sas-6g-x4", 2289, 1945),
    ("sas-6g-x8", 4578, 3890),
    ("pcie-1.0-x4", 954, 858),
    ("pcie-1.0-x8", 1907, 1716),
    ("pcie-2.0-x4", 1907, 1716),
    ("pcie-2.0-x8", 3815, 3433),
    ("pcie-3.0-x4", 3756, 3380),
    ("pcie-3.0-x8", 7512, 6761),
]
"""The two interface tables of the published reports, in MB of 2^20 bytes a second."""


@pytest.mark.parametrize(("name", "theoretical", "practical"), TABLES)
def test_published_rates_come_out_to_the_digit(name, theoretical, practical):
    link = Interface.parse(name)
    assert round(link.theoretical / MIB) == theoretical
    # The reports round some practical figures (6760.8 to 6761) and cut others (3890.99 to 3890).
    exact = link.practical / MIB
    assert practical in (math.floor(exact), round(exact))


def test_later_generations_double():
    assert Interface.parse("pcie-4.0-x4").practical == Interface.parse("pcie-3.0-x8").practical
    assert Interface.parse("pcie-5.0-x2").practical == Interface.parse("pcie-4.0-x4").practical
    assert Interface.parse("sas-12g").practical == 2 * Interface.parse("sas-6g").practical


@pytest.mark.parametrize(
    ("device", "port", "common"),
    [
        ("pcie-3.0-x4", "pcie-2.0-x8", "pcie-2.0-x4"),
        ("pcie-1.0-x4", "pcie-3.0-x16", "pcie-1.0-x4"),
        ("sas-6g", "sas-3g", "sas-3g"),
        ("sas-6g", "sas-12g", "sas-6g"),
        ("sata-6g", "sas-3g", "sata-3g"),
        ("sata-3g", "sas-6g", "sata-3g"),
        ("sata-6g", "sas-12g", "sata-6g"),
        ("sata-6g", "sata-3g", "sata-3g"),
    ],
)
def test_both_ends_use_what_they_have_in_common(device, port, common):
    assert negotiate(Interface.parse(device), Interface.parse(port)).name == common


@pytest.mark.parametrize(
    ("device", "port"),
    [("sas-6g", "sata-6g"), ("pcie-3.0-x4", "sas-6g"), ("sata-6g", "pcie-3.0-x1")],
)
def test_some_ends_cannot_talk(device, port):
    with pytest.raises(ValueError, match="cannot carry"):
        negotiate(Interface.parse(device), Interface.parse(port))


@pytest.mark.parametrize(
    "name", ["sas", "sas-9g", "pcie-3.0-x3", "pcie-7.0-x4", "sata-6g-x4", "SAS-6G", "", "sas-6g-x0"]
)
def test_interfaces_that_do_not_exist_are_refused(name):
    with pytest.raises(ValueError, match=r"interface|width"):
        Interface.parse(name)


def test_duplex():
    assert Interface.parse("sas-6g").full_duplex
    assert Interface.parse("pcie-1.0-x1").full_duplex
    assert not Interface.parse("sata-6g").full_duplex
    # Tunnelled through SAS it is still SATA.
    assert not negotiate(Interface.parse("sata-6g"), Interface.parse("sas-6g")).full_duplex


def test_an_expander_shares_its_ports():
    port, drive = Interface.parse("sas-6g"), Interface.parse("sas-6g")
    assert wide_port(port, 8, [drive] * 24) == port.wide(8).practical
    # Half of the drives at half the rate: a lane moves 1 / ((1 + 2) / 2) of the full rate.
    slow = Interface.parse("sas-3g")
    assert wide_port(port, 8, [drive, slow]) == port.wide(8).practical * Fraction(2, 3)


def test_connections_of_sas_take_as_long_as_their_words():
    """By hand: 76 B to open and close and 2,700 B of waiting; a read has 2 of them and 124 B of
    frames, a write 4 and 172.

    A lane of SAS 6G moves 600 bytes in a microsecond: 4.5 us of waiting.
    """
    assert connection_ns(Interface.parse("sas-6g-x8")) == (round(5676 / 0.6), round(11276 / 0.6))
    assert connection_ns(Interface.parse("sas-12g")) == (4730, 9397)


INTERFACES = [
    Interface.parse(name)
    for name in (
        *(f"pcie-{g}-x{n}" for g in ("1.0", "2.0", "3.0", "4.0", "5.0") for n in (1, 2, 4, 8, 16)),
        *("sas-3g", "sas-6g", "sas-12g", "sata-1.5g", "sata-3g", "sata-6g"),
    )
]


@given(st.sampled_from(INTERFACES), st.sampled_from(INTERFACES))
def test_negotiation_never_adds(device, port):
    try:
        common = negotiate(device, port)
    except ValueError:
        return
    assert common.practical <= min(device.practical, port.practical)
    assert common.family == device.family
    assert negotiate(common, port) == common


@given(st.sampled_from(INTERFACES))
def test_names_read_back(interface):
    assert Interface.parse(interface.name) == interface


@given(
    st.integers(1, 16), st.lists(st.sampled_from(["sas-3g", "sas-6g", "sata-1.5g"]), max_size=30)
)
def test_an_expander_never_adds(ports, drives):
    port = Interface.parse("sas-6g")
    assert wide_port(port, ports, map(Interface.parse, drives)) <= port.wide(ports).practical
