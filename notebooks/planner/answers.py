"""Questions being answered: each in a thread of its own, with progress, stopped by the next one."""

from __future__ import annotations

import contextlib
import json
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from raidlab.devices.faults import SpecError
from raidlab.devices.trees import Document
from raidlab.notebooks.frame.room import scenario_toml
from raidlab.notebooks.planner.form import (
    Said,
    form_of,
    question_tree,
    said_of_form,
    said_of_question,
)
from raidlab.notebooks.planner.uploads import Upload, taken
from raidlab.scenarios.capacity.answer import Answer
from raidlab.scenarios.capacity.plan import plan
from raidlab.scenarios.capacity.question import question_of
from raidlab.scenarios.report.page import Fragment
from raidlab.scenarios.report.planner.report import plan_page
from raidlab.scenarios.running.store import Store, StoreError, default_limit, default_path
from raidlab.scenarios.studies.running import Running

QUESTION_FILE: Final = "question.toml"
SCENARIO_FILE: Final = "scenario.toml"
ANSWER_FILE: Final = "answer.json"
PAGE_FILE: Final = "plan.html"
_OF_EVERY_ANSWER: Final = (QUESTION_FILE, SCENARIO_FILE, ANSWER_FILE, PAGE_FILE)
"""Files to download; others are uploads that the question names."""
COMMAND: Final = f"raidlab plan {QUESTION_FILE} --html {PAGE_FILE}"
"""Gives the same answer without the page."""
_SEED: Final = 1
_REMEMBERED: Final = 16
"""Answers whose files can still be downloaded."""


class _StoppedError(Exception):
    """A question that was replaced by the next one, or that the planner stopped."""


class State(StrEnum):
    """Where a question stands."""

    RUNNING = "running"
    DONE = "done"
    WRONG = "wrong"
    STOPPED = "stopped"


@dataclass
class Asked:
    """A question of one tab of the browser."""

    number: int
    tab: str
    state: State = State.RUNNING
    done: int = 0
    of: int = 0
    """0 where nobody knows how many runs the step takes."""
    step: str = ""
    """What the runs are for."""
    faults: Sequence[Said] = ()
    fragment: Fragment | None = None
    fits: bool = False
    files: Mapping[str, str] = field(default_factory=dict)
    """Texts to download, by their names."""
    stopped: threading.Event = field(default_factory=threading.Event)

    def to_dict(self) -> Document:
        """What the page is sent."""
        return {
            "number": self.number,
            "state": self.state,
            "done": self.done,
            "of": self.of,
            "step": self.step,
            "faults": [vars(each) for each in self.faults],
            "html": "" if self.fragment is None else self.fragment.html,
            "plots": "[]" if self.fragment is None else self.fragment.plots,
            "fits": self.fits,
            "files": list(self.files),
            "beside": [name for name in self.files if name not in _OF_EVERY_ANSWER],
        }


class Desk:
    """Uploads and questions of a server, until it ends."""

    def __init__(self) -> None:
        self._folder = TemporaryDirectory(prefix="raidlab-planner-")
        self.folder = Path(self._folder.name)
        self.uploads: dict[str, Upload] = {}
        self.asked: OrderedDict[int, Asked] = OrderedDict()
        self._numbers = count(1)
        self._lock = threading.Lock()

    def upload(self, name: str, text: str) -> list[Upload]:
        """Takes a file: what is in it.

        Raises:
            SpecError: It is none that the planner takes.
        """
        # A sheet takes a minute, beside which others are taken.
        found = taken(name, text, self.folder)
        with self._lock:
            self.uploads |= {each.file: each for each in found}
        return found

    def ask(self, tab: str, values: Mapping[str, object]) -> Asked:
        """Begins to answer a question; the one before of the same tab ends."""
        asked = Asked(next(self._numbers), tab)
        for other in list(self.asked.values()):
            if other.tab == tab:
                other.stopped.set()
        self.asked[asked.number] = asked
        while len(self.asked) > _REMEMBERED:
            _, oldest = self.asked.popitem(last=False)
            oldest.stopped.set()
        threading.Thread(target=self._answer, args=(asked, values), daemon=True).start()
        return asked

    def stop(self, number: int) -> None:
        """Ends a question before it is answered."""
        if number in self.asked:
            self.asked[number].stopped.set()

    def _answer(self, asked: Asked, values: Mapping[str, object]) -> None:
        faults_at = said_of_form
        try:
            tree = question_tree(form_of(values), self.uploads)
            faults_at = said_of_question
            question = question_of(tree, self.folder / QUESTION_FILE)

            def tell(done: int, of: int) -> None:
                if asked.stopped.is_set():
                    raise _StoppedError
                asked.done, asked.of = done, of

            def step(name: str) -> None:
                asked.step, asked.done, asked.of = name, 0, 0

            with contextlib.ExitStack() as stack:
                running = Running(None, tell, _store(stack), step)
                found = plan(question, seed=_SEED, running=running)
            shown = plan_page(found, COMMAND)
            asked.files = self._files(tree, found, shown.html())
            asked.fragment = shown.fragment()
            asked.fits = found.recommended is not None
            asked.state = State.DONE
        except _StoppedError:
            asked.state = State.STOPPED
        except SpecError as error:
            asked.faults = faults_at(error.faults)
            asked.state = State.WRONG
        except Exception as error:  # Another question may well be answered: the page goes on.
            asked.faults = [Said("", f"This question could not be answered: {error}")]
            asked.state = State.WRONG

    def _files(self, tree: Mapping[str, object], found: Answer, page: str) -> dict[str, str]:
        head = [str(tree["title"]), "", f"From the planner. It is answered by: {COMMAND}"]
        files = {QUESTION_FILE: scenario_toml(tree, head)}
        for upload in self.uploads.values():
            if upload.file in files[QUESTION_FILE]:
                files[upload.file] = (self.folder / upload.file).read_text("utf-8")
        best = found.recommended or found.nearest
        if best is not None:
            head = [best.name, "", f"From the planner. To run it: raidlab run {SCENARIO_FILE}"]
            files[SCENARIO_FILE] = scenario_toml(best.tree, head)
        files[PAGE_FILE] = page
        files[ANSWER_FILE] = json.dumps(found.to_dict(), indent=2, default=str)
        return files


def _store(stack: contextlib.ExitStack) -> Store | None:
    """The user's store of finished runs: a slider moved back is answered at once."""
    try:
        return stack.enter_context(
            Store(default_path(), limit_bytes=default_limit(), warn=lambda message: None)
        )
    except StoreError:
        return None
