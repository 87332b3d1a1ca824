"""What is promised is never rounded up."""

import pytest

from raidlab.scenarios.results.number_text import rounded_down


@pytest.mark.parametrize(
    ("value", "promised"),
    [(12.7, 12), (12.0, 12), (1.29, 1.2), (0.1299, 0.12), (9.99, 9.9), (138.2, 130), (2.4, 2.4)],
)
def test_two_digits_and_never_more(value, promised):
    assert rounded_down(value) == pytest.approx(promised)
