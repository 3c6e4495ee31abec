"""The kinds of work that can be a job: those of the house, one line each, or ``module:OBJECT`` of one's own."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from fabula.errors import InputError
from fabula.jobs.task import JobTask

TASKS = {  # name: (where it lies, what it does)
    "extract": ("measure_files:Extract", "Measure files: a row a file."),
    "encode": ("by_model:Encode", "The essence of every item of a table of collections."),
    "order": ("by_model:Order", "An ordering of every collection of a table."),
    "templates-learn": ("templates_learn:TemplatesLearn", "Learn templates from a table of ordered collections."),
    "reproduce": ("reproduce_paper:Reproduce", "Reproduce every table and figure of the paper."),
    "compare": ("compare:Compare", "Bits of each feature and of the essence, with several seeds."),
    "audit": ("audit:Audit", "The bits of a recipe on real collections and on controls."),
}


@cache
def find_task(name: str) -> JobTask:
    """A task by name."""
    if name in TASKS:
        module, _, attribute = TASKS[name][0].partition(":")
        found = getattr(import_module(f"{__package__}.{module}"), attribute)
    elif ":" in name:
        module, _, attribute = name.partition(":")
        try:
            found = getattr(import_module(module), attribute)
        except (ImportError, AttributeError) as error:
            raise InputError(f"the task {name!r} cannot be imported ({error})") from error
    else:
        raise InputError(f"there is no task {name!r}; there are: {', '.join(TASKS)}")
    task = found() if isinstance(found, type) else found
    if not isinstance(task, JobTask):
        raise InputError(f"{name!r} must be a fabula.jobs.task.JobTask; got {type(task).__name__}")
    return task
