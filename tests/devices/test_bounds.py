"""Numbers that a file may hold are numbers that the engine can hold."""

import importlib
import pkgutil

import annotated_types
import pytest

import raidlab.calibration
import raidlab.devices
import raidlab.scenarios
from raidlab.devices.schema import Table

# Wherever a table is written: what is imported does not depend on the tests that ran before.
for room in (raidlab.calibration, raidlab.devices, raidlab.scenarios):
    for found in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
        if not found.name.endswith("._fio_bridge"):  # fio's engine, not a module of Python
            importlib.import_module(found.name)


def models(of=Table):
    for each in of.__subclasses__():
        if each.__module__.startswith("raidlab."):
            yield each
        yield from models(each)


def plain_ints(annotation, metadata):
    """The bounds of every whole number without a unit in a type."""
    if annotation is int:
        yield metadata
    for inner in getattr(annotation, "__args__", ()):
        yield from plain_ints(inner, (*metadata, *getattr(annotation, "__metadata__", ())))


@pytest.mark.parametrize("model", sorted(set(models()), key=str), ids=lambda model: model.__name__)
def test_whole_numbers_have_an_upper_bound(model):
    """`queue_depth = 4294967296` was a fault of the plan: "u32 at line 1 column 1719"."""
    for name, field in model.model_fields.items():
        for metadata in plain_ints(field.annotation, field.metadata):
            if any("Validator" in type(each).__name__ for each in metadata):
                continue
            bounds = [each for each in metadata if hasattr(each, "le") or hasattr(each, "lt")]
            inner = [
                each
                for group in metadata
                for each in getattr(group, "metadata", ())
                if isinstance(each, annotated_types.Le | annotated_types.Lt)
            ]
            assert bounds or inner, f"{model.__name__}.{name}"
