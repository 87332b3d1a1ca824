"""`raidlab risk`: how probable it is that data are lost."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from raidlab.commands.common import (
    Html,
    Json,
    OwnSeed,
    ScenarioFile,
    Workers,
    command,
    percents,
    resumable,
)
from raidlab.commands.outputs import give
from raidlab.commands.tables import Output, Wide


@command
def risk(
    scenario: ScenarioFile,
    years: Annotated[float, typer.Option("--years", help="The time that is asked about.")] = 5.0,
    afr: Annotated[
        str, typer.Option("--afr", help="Percent of drives that fail in a year; published if none.")
    ] = "",
    shape: Annotated[
        float, typer.Option("--shape", help="Shape of the Weibull law of lives; 1 is exponential.")
    ] = 1.0,
    infant: Annotated[
        str, typer.Option("--infant", help="Percent that fail early, beyond --afr (bathtub).")
    ] = "0",
    wear_out: Annotated[
        float | None, typer.Option("--wear-out", help="Years until drives wear out (bathtub).")
    ] = None,
    batch: Annotated[
        str,
        typer.Option(
            "--bad-batch", help="SHARE:FACTOR, such as 5:10: 5 % of batches fail 10-fold."
        ),
    ] = "",
    uber: Annotated[
        float | None, typer.Option("--uber", help="Unreadable sectors a bit; published if none.")
    ] = None,
    latent: Annotated[
        float, typer.Option("--latent", help="Latent sector errors of a drive in a year.")
    ] = 0.0,
    patrol: Annotated[float, typer.Option("--patrol", help="Days between patrol reads.")] = 14.0,
    rebuild: Annotated[
        float | None, typer.Option("--rebuild", help="Hours of a rebuild; simulated if left out.")
    ] = None,
    replace: Annotated[
        float, typer.Option("--replace", help="Hours until a person has replaced a drive.")
    ] = 24.0,
    age: Annotated[
        float, typer.Option("--age", help="Age of the drives at the beginning, years.")
    ] = 0.0,
    goal: Annotated[
        list[str] | None,
        typer.Option("--goal", help='"p99 < 20 ms": how long rebuilds make the load miss it.'),
    ] = None,
    json: Json = False,
    html: Html = None,
    wide: Wide = False,
    seed: OwnSeed = None,
    workers: Workers = None,
) -> None:
    """Draw random failures: how probable it is that a scenario's arrays lose data.

    Without --rebuild the time of a rebuild is simulated under the scenario's load.
    """
    from raidlab.devices.faults import Faults, SpecError
    from raidlab.scenarios.report import risk as report
    from raidlab.scenarios.results.goals import goals_of
    from raidlab.scenarios.risk.assess import Question, assess
    from raidlab.scenarios.risk.histories import Batch
    from raidlab.scenarios.spec.written import scenario_tree
    from raidlab.scenarios.studies.running import Running

    faults, texts = Faults(""), dict[str, Any]()
    for key, given, read in (
        ("afr", afr, lambda: _percent("--afr", afr)),
        ("infant", infant != "0", lambda: _percent("--infant", infant)),
        ("batch", batch, lambda: Batch(*_batch(batch))),
        ("goals", goal, lambda: tuple(goals_of(goal or ()))),
    ):
        try:
            texts |= {key: read()} if given else {}
        except SpecError as error:
            faults.extend(error.faults)
    question = Question(
        years=years,
        shape=shape,
        wear_out_years=wear_out,
        uber=uber,
        latent_per_year=latent,
        patrol_days=patrol,
        rebuild_h=rebuild,
        replace_h=replace,
        age_years=age,
        **texts,
    )
    faults.extend(question.faults())
    faults.raise_if_any()
    tree = scenario_tree(scenario)
    with resumable(f"{scenario.stem}: rebuild") as (tell, store):
        found = assess(tree, scenario, question, seed=seed, running=Running(workers, tell, store))

    give(found, report.report, "risk", Output.of(json=json, wide=wide), html)


def _percent(option: str, text: str) -> float:
    allowed = "percent above 0, below 100, such as 1.5"
    return percents(option, text.removesuffix("%").strip(), allowed, lambda s: 0 < s < 1)[0]


def _batch(text: str) -> tuple[float, float]:
    from raidlab.devices.faults import Fault, SpecError

    share, _, factor = text.partition(":")
    try:
        found = float(share.strip(" %")) / 100, float(factor)
    except ValueError:
        found = 0.0, 0.0
    if not 0 < found[0] <= 1 or not 1 <= found[1] <= 1000:
        allowed = "SHARE:FACTOR, percent of batches and how many times as often their drives fail"
        raise SpecError([Fault("--bad-batch", text, f"{allowed}, such as 5:10")])
    return found
