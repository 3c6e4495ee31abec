"""Endpoints that follow and stop jobs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter

from fabula.web.jobs import Jobs
from fabula.web.responses import json_response


def add_jobs(router: APIRouter, jobs: Jobs) -> None:
    """Add the endpoints that follow and stop jobs."""

    @router.get("/jobs", tags=["jobs"])
    def all_jobs() -> Any:
        """Every job, the newest last."""
        return json_response([asdict(job) for job in jobs.all()])

    @router.get("/jobs/{job}", tags=["jobs"])
    def one_job(job: str) -> Any:
        """How far a job is; once it is done, which collection came of it."""
        return json_response(asdict(jobs.get(job)))

    @router.delete("/jobs/{job}", tags=["jobs"])
    def cancel(job: str) -> Any:
        """Stop a job; what it was at is given up."""
        return json_response(asdict(jobs.cancel(job)))
