"""One known load as many tools, versions and locales print it: each import gives its figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidlab.calibration.monitoring.importing import import_monitoring
from tests.calibration.monitoring.printed import Printed
from tests.calibration.monitoring.printed_clouds import CLOUDS
from tests.calibration.monitoring.printed_iostat import IOSTAT
from tests.calibration.monitoring.printed_linux import LINUX
from tests.calibration.monitoring.printed_more import MORE
from tests.calibration.monitoring.printed_others import OTHERS
from tests.calibration.monitoring.printed_sar import SAR
from tests.calibration.monitoring.truth import COUNT, expected

FORMS = [*IOSTAT, *SAR, *LINUX, *OTHERS, *CLOUDS, *MORE]


def faults(form: Printed, path: Path) -> list[str]:
    """Figures and facts that are not those of the load."""
    path.write_bytes(form.text.encode(form.encoding))
    document = import_monitoring([path]).to_dict()
    found = []
    if document.get("refused"):
        return [f"refused: {document['reason']}"]
    if document["source"] != form.source:
        found.append(f"source: {document['source']}")
    for fact, wanted in form.facts.items():
        got = document[fact]
        if fact == "start" and got is not None:
            got = got.replace("+00:00", "Z")
            wanted = str(wanted).replace("+00:00", "Z")
        if (sorted(got) if isinstance(got, list) else got) != wanted:
            found.append(f"{fact}: {got} for {wanted}")
    for disk, name in form.devices.items():
        figures = document["devices"].get(name)
        if figures is None:
            found.append(f"{name} is not in it: {list(document['devices'])}")
            continue
        if figures["samples"] != COUNT:
            found.append(f"{name}.samples: {figures['samples']}")
        for key, wanted_value in expected(disk).items():
            if key in form.holds:
                value = figures[key]
                if value is None or abs(value / wanted_value - 1) > form.tolerance:
                    found.append(f"{name}.{key}: {value} for {wanted_value}")
    return found


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_a_printed_load_is_read_as_it_was(form: Printed, tmp_path: Path) -> None:
    assert faults(form, tmp_path / f"capture{form.suffix}") == []
