"""Closed networks of one queue and a delay, in closed form.

`n` I/Os circulate between a server and a delay `z` in which they do not wait for each other.

With exponential service this is the machine repairman's model: the server is idle with Erlang's
loss probability, so

    X = (1 - B(n, z / s)) / s        B(n, a) = (a^n / n!) / sum of a^k / k!, k = 0 to n

exactly, for any distribution of the delay (Erlang 1917; Gross and Harris, Fundamentals of Queueing
Theory, 2.8). With constant service the asymptotes are all but met: X = min(n / (s + z), 1 / s).
Between both the logarithm of the rate is taken linearly in the squared coefficient of variation.
`c` servers are taken as one that is `c` times as fast and a delay of what is left of the service
(Seidmann, Schweitzer and Shalev-Oren 1987): both asymptotes stay exact.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.special import gammaincc, gammaln

Array = npt.NDArray[np.float64]

_LONG_DELAY: Final = 500.0
"""Ratio of delay and service beyond which nothing waits but at saturation: exp(-ratio) is zero."""


def erlang_loss(count: Array, load: Array) -> Array:
    """Erlang's loss probability B(count, load), for counts that need not be whole.

    Args:
        count: Servers of the loss system, here the I/Os in circulation.
        load: Offered load, here the delay over the service time; up to about 500.
    """
    log_pmf = count * np.log(load) - load - gammaln(count + 1.0)
    found: Array = np.exp(log_pmf) / np.maximum(gammaincc(count + 1.0, load), 1e-300)
    return np.minimum(found, 1.0)


def rate_constant(count: Array, service: Array, delay: Array) -> Array:
    """I/Os a second with a constant service time: the two asymptotes. Times in seconds."""
    found: Array = np.minimum(count / (service + delay), 1.0 / service)
    return found


def rate_exponential(count: Array, service: Array, delay: Array) -> Array:
    """I/Os a second with an exponential service time. Times in seconds."""
    load = np.maximum(delay / service, 1e-9)
    waits = load < _LONG_DELAY
    loss = erlang_loss(count, np.where(waits, load, 1.0))
    found: Array = np.where(waits, (1.0 - loss) / service, rate_constant(count, service, delay))
    return found


def closed_rate(
    count: Array, service: Array, delay: Array, spread: float = 1.0, servers: Array | float = 1.0
) -> Array:
    """I/Os a second of a closed network of a station and a delay.

    Args:
        count: I/Os in circulation.
        service: Mean time of an I/O at one server, in seconds.
        delay: Time elsewhere, in seconds.
        spread: Share of the service time that varies exponentially, 0 to 1.
        servers: How many work in parallel.
    """
    one, rest = service / servers, service * (1.0 - 1.0 / np.asarray(servers, dtype=float))
    constant = rate_constant(count, one, delay + rest)
    if spread <= 0.0:
        return constant
    share = spread**2
    varied = rate_exponential(count, one, delay + rest)
    found: Array = np.exp((1.0 - share) * np.log(constant) + share * np.log(varied))
    return found
