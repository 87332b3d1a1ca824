"""Device files: sources, families, faults all at once."""

import textwrap

import pytest

from raidlab.devices.catalogue import catalogue, find, load_device, names
from raidlab.devices.faults import SpecError

STATION = """
    kind = "station"
    name = "slow"
    capacity = "500 GB"
    service = { value = "5 ms", source = "fitted", stderr = "0.1 ms", measurement = "run 7" }
    servers = 2
    [sources]
    capacity = "data-sheet"
    servers = { source = "assumed", note = "two arms" }
"""


@pytest.fixture
def write(tmp_path):
    def write(text, name="device.toml"):
        path = tmp_path / name
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    return write


def faults_of(path):
    with pytest.raises(SpecError) as caught:
        load_device(path)
    return {fault.key: fault for fault in caught.value.faults}


def test_values_and_sources_come_apart(write):
    device = load_device(write(STATION))
    assert (device.spec.service, device.spec.capacity) == (5_000_000, 500 * 10**9)
    assert str(device.sources["service"]) == "fitted ± 0.1 ms (run 7)"
    assert str(device.sources["servers"]) == "assumed: two arms"
    assert device.sources["capacity"].source == "data-sheet"


def test_a_number_without_a_source_is_a_fault(write):
    faults = faults_of(write(STATION.replace('capacity = "data-sheet"', "")))
    assert "has no source" in faults["capacity"].allowed


def test_a_source_without_a_number_is_a_fault(write):
    faults = faults_of(write(STATION + '    spindle = "assumed"\n'))
    assert "names no number" in faults["sources.spindle"].allowed


def test_a_fitted_number_has_an_error(write):
    faults = faults_of(write(STATION.replace(', stderr = "0.1 ms"', "")))
    assert "stderr" in faults["service"].allowed


def test_every_fault_is_reported_at_once(write):
    path = write("""
        kind = "station"
        name = "Slow one"
        capacity = 500
        servise = "5 ms"
        distribution = "exponentail"
        servers = 0
        interface = "sas-9g"
        [sources]
        all = "asumed"
    """)
    faults = faults_of(path)
    assert set(faults) >= {
        "name", "capacity", "servise", "service", "distribution", "servers", "interface",
        "sources.all.source",
    }  # fmt: skip
    assert faults["servise"].nearest == "service"
    assert faults["distribution"].nearest == "exponential"
    assert faults["sources.all.source"].nearest == "assumed"
    assert "a unit is missing" in faults["capacity"].allowed
    assert faults["capacity"].value == 500
    assert all(fault.file == str(path) for fault in faults.values())


def test_one_value_where_a_list_belongs_is_reported_as_a_list_of_it(write):
    faults = faults_of(write('aliases = "slow"\n' + STATION))
    assert str(faults["aliases"]).endswith('aliases = "slow": a list, such as ["slow"]')


def test_a_family_states_only_what_differs(write):
    write(STATION, "base.toml")
    device = load_device(
        write("""
            like = "base.toml"
            kind = "station"
            name = "slower"
            service = { value = "9 ms", source = "assumed" }
        """)
    )
    assert (device.spec.service, device.spec.servers) == (9_000_000, 2)
    assert device.sources["service"].source == "assumed"
    assert device.sources["servers"].note == "two arms"
    assert device.spec.title == ""


def test_a_number_changed_without_a_source_has_not_that_of_the_family(write):
    write(STATION, "base.toml")
    lines = 'like = "base.toml"\nkind = "station"\nname = "x"\nservers = 2\nservice = "9 ms"\n'
    device = load_device(write(lines))
    assert device.sources["service"].source == "assumed"
    assert "device.toml states no source" in device.sources["service"].note
    assert device.sources["servers"].note == "two arms"


def test_of_a_family_that_does_not_exist_nothing_is_missing_besides(write):
    found = faults_of(write('like = "p3700-80"\nname = "x"\ncapacity = "1 TB"\n'))
    assert list(found) == ["like"]
    assert found["like"].nearest == "p3700-800"


def test_a_family_of_another_kind_is_the_only_fault(write):
    found = faults_of(write('like = "p3700-800"\nkind = "hdd"\nname = "x"\n'))
    assert list(found) == ["like"]
    assert found["like"].allowed == "a device of the same kind (hdd); this is one of kind ssd"


def test_a_family_that_refers_to_itself_is_a_fault(write):
    path = write('like = "device.toml"\nkind = "station"\nname = "x"\n')
    assert "like" in faults_of(path)


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"kind = ", "not TOML"), (b"\xff\xfe", "not UTF-8"), (b"", "one of")],
)
def test_files_that_are_none(tmp_path, content, said):
    path = tmp_path / "x.toml"
    path.write_bytes(content)
    with pytest.raises(SpecError, match=said):
        load_device(path)


def test_a_file_that_is_missing(tmp_path):
    with pytest.raises(SpecError, match="No such file"):
        load_device(tmp_path / "x.toml")


def test_the_whole_catalogue_is_in_order():
    devices = catalogue()
    assert {device.spec.kind for device in devices} >= {"host", "controller", "station"}
    for device in devices:
        assert device.spec.title, device.path
        assert device.path.stem == device.spec.name
        assert device.path.parent.name == device.spec.kind
        # A data sheet opens with what it is for, below the line that editors read.
        lines = device.path.read_text().removeprefix("#:schema").splitlines()
        assert any(line.startswith("# ") for line in lines[:2]), device.path


def test_an_alias_finds_its_device():
    assert find("lsi2208-1g").spec.name == "lsi2208-1g-3.0"
    assert len(set(names())) == len(names())


def test_an_unknown_name_suggests_the_nearest():
    with pytest.raises(SpecError, match='did you mean "lsi2008"'):
        find("lsi20008")


@pytest.mark.parametrize(
    ("written", "nearest"), [("lsi2208", "lsi2208-1g"), ("P3700", "p3700-800")]
)
def test_a_name_without_its_ending_suggests_one_that_has_it(written, nearest):
    with pytest.raises(SpecError, match=f'did you mean "{nearest}"'):
        find(written)


@pytest.mark.parametrize(
    ("line", "reported"),
    [
        ('flush = "0 s"', 'cache.flush = "0 s": at least "1 ms"'),
        ("dirty = 0", "cache.dirty = 0: greater than 0"),
    ],
)
def test_a_controller_s_memory_that_cannot_be_is_reported_by_its_key(tmp_path, line, reported):
    path = tmp_path / "mine.toml"
    path.write_text(f'kind = "controller"\nname = "mine"\nlike = "lsi2108"\n[cache]\n{line}\n')
    with pytest.raises(SpecError) as raised:
        load_device(path)
    assert str(raised.value).endswith(reported)
