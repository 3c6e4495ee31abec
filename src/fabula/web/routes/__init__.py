"""The JSON endpoints, thin over what they call; each is in the OpenAPI description."""

from __future__ import annotations

from fastapi import APIRouter

from fabula.web.desks import Desks
from fabula.web.errors import ERROR_RESPONSES
from fabula.web.guard.strict import StrictRoute
from fabula.web.jobs import Jobs
from fabula.web.routes.collections import add_collections
from fabula.web.routes.desks import add_desks
from fabula.web.routes.items import add_items
from fabula.web.routes.jobs import add_jobs
from fabula.web.routes.opening import add_opening
from fabula.web.routes.results import add_results
from fabula.web.store import Store


def create_router(store: Store, jobs: Jobs, desks: Desks) -> APIRouter:
    """Every endpoint."""
    router = APIRouter(prefix="/api", responses=ERROR_RESPONSES, route_class=StrictRoute)
    add_opening(router, store, jobs)
    add_jobs(router, jobs)
    add_collections(router, store)
    add_items(router, store)
    add_results(router, store)
    add_desks(router, store, jobs, desks)
    return router
