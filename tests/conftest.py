"""What every test has."""

import gc
import os

import pytest
from hypothesis import settings

# Equal examples everywhere; `make fuzz` draws new ones.
settings.register_profile("steady", derandomize=True, deadline=None)
if "RAIDLAB_FUZZ_SECONDS" not in os.environ:
    settings.load_profile("steady")

# Thousands of tests stay until the end: nothing is won by looking through them for rubbish.
gc.disable()


def pytest_collection_finish() -> None:
    """From here on only what tests make is looked through."""
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest begins first, so that no core waits for it at the end."""
    items.sort(key=lambda item: "tests/fuzz/" not in item.nodeid)


@pytest.fixture(autouse=True, scope="session")
def own_store(tmp_path_factory):
    """Runs are found again within a session of tests, never beyond it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAIDLAB_STORE", str(tmp_path_factory.mktemp("store") / "runs.sqlite"))
        yield
