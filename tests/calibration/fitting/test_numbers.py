"""Numbers that decide what a fit compares: a slip in one changes fits and nothing else."""

from raidlab.calibration.fitting.estimation import contest, decision, stages


def test_numbers_that_decide_fits_are_those_of_the_evidence() -> None:
    found = {
        "points that span a set": stages._SPANNING,
        "points on which modes of operation are compared": stages._MODE_POINTS,
        "points on which limits are compared": stages._LIMIT_POINTS,
        "runs that judge what changes over time": stages._RUNS,
        "loss of a parameter more": stages.PER_PARAMETER,
        "loss by which modes differ": decision.ABOUT_AS_WELL,
        "points on which what is in doubt is decided": contest._POINTS,
        "evaluations": stages.BUDGET,
    }
    assert found == {
        "points that span a set": 6,
        "points on which modes of operation are compared": 4,
        "points on which limits are compared": 8,
        "runs that judge what changes over time": 8,
        "loss of a parameter more": 2.0,
        "loss by which modes differ": 4.0,
        "points on which what is in doubt is decided": 12,
        "evaluations": 20_000,
    }
