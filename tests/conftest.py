"""What every test has."""

import pytest


@pytest.fixture(autouse=True, scope="session")
def own_store(tmp_path_factory):
    """Runs are found again within a session of tests, never beyond it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAIDLAB_STORE", str(tmp_path_factory.mktemp("store") / "runs.sqlite"))
        yield
