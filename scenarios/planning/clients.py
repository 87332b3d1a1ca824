"""Clients of a target across a network, each with a link of its own.

A client's link carries what the target's does: headers, segments and commands of the host's
`[network]`, at a rate of its own. Data cross both, frame by frame, so the slower one bounds them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from raidlab.devices.faults import Faults
from raidlab.devices.host import HostSpec
from raidlab.devices.plan_types import WorkloadPlan
from raidlab.scenarios.planning.topology import Topology
from raidlab.scenarios.spec.component_name import client_link
from raidlab.scenarios.spec.schema import ScenarioTable

_NO_NETWORK: Final = (
    'left out, or [host] with a [network], the target\'s own: model = "nvme-tcp-25g" or "iscsi-10g"'
)


def check_clients(table: ScenarioTable, host: HostSpec | None, faults: Faults) -> None:
    """Links of clients where no network is."""
    for at, workload in enumerate(table.workload):
        if workload.client_link is not None and host is not None and host.network is None:
            shown = f"{workload.client_link / 1e6:g} MB/s"
            faults.add(f"workload.{at}.client_link", shown, _NO_NETWORK)


def add_clients(
    table: ScenarioTable,
    host: HostSpec,
    topology: Topology,
    loads: Sequence[tuple[str, Sequence[WorkloadPlan]]],
) -> None:
    """Adds the link of each client, and says in the plans of its load that data cross it.

    Args:
        table: The scenario.
        host: The host, whose network is the target's.
        topology: Takes the links; its last one is the target's network.
        loads: The name of each load with its plans.
    """
    if host.network is None:
        return
    target = len(topology.links) - 1
    rates = {
        workload.name or f"workload-{at}": workload.client_link
        for at, workload in enumerate(table.workload)
    }
    for name, plans in loads:
        rate = rates.get(name)
        if rate is None:
            continue
        # What stacks and switches take is once on the way: the target's link has it.
        own = host.network.model_copy(update={"rate": rate, "latency": 0}).to_link(host.name)
        link = topology.add(own | {"name": client_link(name)})
        for plan in plans:
            plan["client"] = {"link": link, "target": target}
