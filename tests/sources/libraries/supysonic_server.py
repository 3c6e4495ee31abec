"""Supysonic on loopback: ``python supysonic_server.py DATA MUSIC [STATUS_AFTER]`` prints its port.

It has the users ann and bob, both with the password ``p & w``, and scans the music. With STATUS_AFTER a request that
replaces a playlist is carried out and then answered with that status, as by a proxy that lost the answer; with its
negative it is not carried out.
"""

from __future__ import annotations

import sys
from pathlib import Path

from flask import Response, request
from supysonic.config import DefaultConfig
from supysonic.db import close_connection, init_database, open_connection
from supysonic.managers.folder import FolderManager
from supysonic.managers.user import UserManager
from supysonic.scanner import Scanner
from supysonic.web import create_application
from werkzeug.serving import make_server

PASSWORD = "p & w"


def configure(data: Path) -> type[DefaultConfig]:
    base = {**DefaultConfig.BASE, "database_uri": f"sqlite:///{data / 'songs.db'}"}
    pages = {**DefaultConfig.WEBAPP, "cache_dir": str(data), "mount_webui": False, "log_level": "CRITICAL"}
    return type("Config", (DefaultConfig,), {"BASE": base, "WEBAPP": pages})


def main(data: Path, music: Path, status: int) -> None:
    config, new = configure(data), not (data / "songs.db").exists()
    if new:
        init_database(config.BASE["database_uri"])
        open_connection(reuse=True)
        UserManager.add("ann", PASSWORD)
        UserManager.add("bob", PASSWORD)
        FolderManager.add("music", str(music))
        scanner = Scanner()
        scanner.queue_folder("music")
        scanner.run()
        close_connection()
    app = create_application(config)

    @app.before_request
    def refuse():
        if status < 0 and request.path.endswith("/createPlaylist.view") and "playlistId" in request.form:
            return Response("gone", -status)
        return None

    @app.after_request
    def lose(answer):
        if status > 0 and request.path.endswith("/createPlaylist.view") and "playlistId" in request.form:
            return Response("gone", status)
        return answer

    server = make_server("127.0.0.1", 0, app, threaded=False)
    sys.stdout.write(f"{server.server_port}\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 0)
