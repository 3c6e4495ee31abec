"""The server of the page."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import FileResponse
from fastapi.staticfiles import StaticFiles

from fabula.core.collection import Item
from fabula.session.session import session_of
from fabula.version import __version__
from fabula.web.desks import Desks, data_folder
from fabula.web.errors import add_error_handlers
from fabula.web.guard.access import Access
from fabula.web.guard.middleware import SafetyMiddleware
from fabula.web.jobs import Jobs
from fabula.web.routes import create_router
from fabula.web.settings import Settings
from fabula.web.store import Store

STATIC = Path(__file__).with_name("static")


def create_app(settings: Settings | None = None) -> FastAPI:
    """Make the server: the page at ``/``, JSON under ``/api``, its description at ``/api/openapi.json``.

    Parameters
    ----------
    settings
        What it may do; by default it opens nothing of this machine but the demo and what is sent to it.

    Examples
    --------
    >>> create_app().title
    'fabula'
    """
    chosen = settings or Settings()
    store = Store(chosen)
    jobs = Jobs(chosen.most_jobs)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        threading.Thread(target=_load_search, daemon=True).start()
        yield
        jobs.cancel_all()
        store.close()

    app = FastAPI(
        title="fabula",
        version=__version__,
        description="Draw an arc, and the order of a collection follows.",
        openapi_url="/api/openapi.json",
        docs_url=None,  # these would load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
    )
    app.state.store, app.state.jobs = store, jobs
    add_error_handlers(app)
    app.include_router(create_router(store, jobs, Desks(data_folder() / "desks")))

    @app.get("/", include_in_schema=False)
    def page() -> FileResponse:
        return FileResponse(STATIC / "index.html")

    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    app.state.access = Access(chosen.token)
    app.add_middleware(SafetyMiddleware, settings=chosen, access=app.state.access)
    return app


def _load_search() -> None:
    """Load what a search needs before the first one is asked for: that alone takes longer than the search."""
    items = [Item(str(number)) for number in range(20)]
    session_of(items, list(range(20))).order(template="steady-rise", sides=2, seconds=0.01)
