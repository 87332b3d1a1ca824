"""Student's t, as all 95 % intervals take it.

Student (1908), "The probable error of a mean". SciPy computes the quantile by inverting the
distribution, but takes most of a second of CPU time to load. Few runs, the usual case, are looked
up in SciPy's values.
"""

from __future__ import annotations

from typing import Final

# fmt: off
_QUANTILES: Final = (
    12.706204736174694, 4.302652729749462, 3.1824463052837078, 2.7764451051977934,
    2.5705818356363146, 2.4469118511449786, 2.364624251592784, 2.306004135204166,
    2.262157162798205, 2.228138851986274, 2.200985160091639, 2.1788128296672284,
    2.1603686564627913, 2.144786687917804, 2.131449545559776, 2.1199052992212546,
    2.1098155778333156, 2.1009220402410382, 2.0930240544083087, 2.085963447265864,
    2.0796138447276795, 2.0738730679040254, 2.0686576104190486, 2.0638985616280245,
    2.0595385527532972, 2.0555294386428735, 2.0518305164802846, 2.0484071417952454,
    2.045229642132703, 2.0422724563012378,
)
# fmt: on


def t_975(freedom: int) -> float:
    """The 97.5 % quantile of Student's t, without unit.

    Args:
        freedom: Degrees of freedom, 1 or more.
    """
    if freedom <= len(_QUANTILES):
        return _QUANTILES[freedom - 1]
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.975))
