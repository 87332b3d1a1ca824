"""Drives of known parameters, for tests that fit them again."""

from __future__ import annotations

import json

from raidlab.devices.station import StationSpec


def station(service_us: float, servers: int) -> StationSpec:
    """Servers with an exponential service time."""
    return StationSpec.model_validate_json(
        json.dumps(
            {
                "kind": "station",
                "name": "truth",
                "capacity": "10 GB",
                "service": f"{service_us} us",
                "distribution": "exponential",
                "servers": servers,
            }
        )
    )
