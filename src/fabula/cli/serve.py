"""``fabula serve``."""

import contextlib
import os
import socket
import threading
import webbrowser
from dataclasses import replace

import click

from fabula.errors import InputError, import_extra

HOST = "127.0.0.1"


@click.command("serve")
@click.argument("roots", nargs=-1, metavar="[ROOT]...")
@click.option("--port", type=click.IntRange(0, 65535), default=8377, show_default=True, help="0 takes any free one.")
@click.option("--browser/--no-browser", default=True, help="Open the page in the browser.")
@click.option("--model", metavar="NAME|FILE", help="The model that gives the essence: see `fabula info`.")
@click.option("--token/--no-token", default=True, help="Let in only who has the address with its token.")
def command(*, roots: tuple[str, ...], port: int, browser: bool, model: str | None, token: bool) -> None:
    """Open the page on which an arc is drawn and the order follows.

    The page is for this computer alone, and for whoever has its address. It may open the demos, what is dropped on it,
    what lies below the folders named as ROOT, and libraries named there: an address, or the database of Mixxx or Engine
    DJ (`fabula sources`). Into these it may write, too. One ROOT that is a collection itself is opened at once.

    \b
    Examples:
      fabula serve
      fabula serve ~/Music --no-browser
      fabula serve subsonic://ann@music.example
    """
    for module in ("fastapi", "uvicorn", "python_multipart"):
        import_extra(module, extra="web", purpose="the page")
    from fabula.models.model import load_model
    from fabula.sources.libraries.library import unlock
    from fabula.sources.registry import is_library
    from fabula.web.app import create_app, make_server
    from fabula.web.server_store import Settings, check_roots

    libraries = tuple(filter(is_library, roots))
    for library in libraries:
        unlock(library)
    folders = check_roots(tuple(root for root in roots if root not in libraries))
    settings = Settings(folders, libraries, folders[0] if len(roots) == len(folders) == 1 else None, model)
    settings = settings if token else replace(settings, token=None)
    if model is not None:
        load_model(model)  # a wrong name is told before anything starts
    with _bind(port) as listening:
        address = f"http://{HOST}:{listening.getsockname()[1]}/"
        app = create_app(settings)
        if settings.token is None:
            click.echo("without a token the page is open to everybody who uses this computer (--no-token)")
        click.echo(f"the page is at {_address(address, settings.token)} (Ctrl-C ends it)")
        if browser:  # once the server has had a moment to start
            once = None if settings.token is None else app.state.access.once()
            timer = threading.Timer(0.6, webbrowser.open, (_address(address, once),))
            timer.daemon = True
            timer.start()
        with contextlib.suppress(KeyboardInterrupt):  # Ctrl-C is how it ends
            make_server(app).run(sockets=[listening])
        click.echo("the page is closed")


def _address(address: str, token: str | None) -> str:
    return address if token is None else f"{address}?token={token}"


def _bind(port: int) -> socket.socket:
    """A socket of this machine alone."""
    try:
        return socket.create_server((HOST, port), backlog=128)
    except OSError as error:
        why = os.strerror(error.errno or 0)
        raise InputError(f"port {port} cannot be used ({why}); choose another with --port") from error
