"""Losses are those of drives and level: candidates that differ in the controller share them."""

from raidlab.scenarios.capacity import plan as module
from raidlab.scenarios.capacity.plan import plan
from raidlab.scenarios.capacity.question import question_of

QUESTION = {
    "goals": ["loss < 5 %"],
    "load": [{"rw": "randread", "block_size": "8 KiB", "rate": "100 IO/s"}],
    "run": {"warm_up": "0 s", "duration": "2 s"},
    "candidates": [
        {
            "drives": ["generic-15000rpm"], "counts": [4, 6], "levels": ["raid10"],
            "used": ["100 GB"],
            "controllers": ["lsi2208-1g-3.0", "lsi2208-1g-2.0"],
        },
    ],
}  # fmt: skip


def test_a_loss_is_assessed_once_for_all_controllers(monkeypatch):
    """Two numbers of drives behind two controllers: two losses, of four candidates.

    100 GB at 30 % of 120 to 250 MB/s are rebuilt in 0.37 to 0.77 h; all 300 GB took thrice that.
    """
    assessed = []
    real = module.assess

    def counted(tree, *more, **named):
        found = real(tree, *more, **named)
        assert 0.37 < more[1].rebuild_h < 0.77
        assessed.append((tree["array"][0]["drives"][0]["count"], found.loss))
        return found

    monkeypatch.setattr(module, "assess", counted)
    found = plan(question_of(QUESTION))
    assert sorted(count for count, _ in assessed) == [4, 6]
    losses = dict(assessed)
    assert {each.count: each.loss.value for each in found.candidates} == losses
    assert len(found.candidates) == 4
