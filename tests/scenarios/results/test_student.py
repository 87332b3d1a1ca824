"""Student's t: SciPy's values to the last bit, without SciPy where runs are few."""

import subprocess
import sys

import pytest
from scipy.stats import t

from raidlab.scenarios.results.student import t_975


def test_three_runs_have_the_quantile_in_closed_form():
    """Two degrees of freedom: t = (2p - 1) / sqrt(2 p (1 - p)), 0.95 / sqrt(0.04875) = 4.3027."""
    assert t_975(2) == pytest.approx(0.95 / 0.04875**0.5, rel=1e-12)


@pytest.mark.parametrize("freedom", [*range(1, 35), 100, 1000])
def test_it_is_the_quantile_of_scipy(freedom):
    assert t_975(freedom) == float(t.ppf(0.975, freedom))


def test_an_interval_of_few_runs_loads_no_scipy():
    asks = (
        "import sys; from raidlab.scenarios.results.intervals import students; "
        "assert students([1.0, 2.0, 3.0])[1] > 4; assert 'scipy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", asks], check=True)
