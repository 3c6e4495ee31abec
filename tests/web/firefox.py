"""Firefox driven by WebDriver BiDi, the protocol it speaks itself: no driver has to be installed beside it."""

from __future__ import annotations

import itertools
import json
import re
import shutil
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

NAMES = ("firefox-esr", "firefox")
_PREFERENCES = """
user_pref("media.autoplay.default", 0);
user_pref("app.normandy.enabled", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("browser.shell.checkDefaultBrowser", false);
"""


def found() -> str | None:
    """Where Firefox is; None where it is not."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Firefox:
    """One window of a Firefox without a screen."""

    def __init__(self, program: str, profile: Path) -> None:
        from websockets.sync.client import connect

        profile.mkdir()
        (profile / "user.js").write_text(_PREFERENCES, encoding="utf-8")
        self._log = (profile / "log").open("w+", encoding="utf-8")
        command = [program, "--headless", "--remote-debugging-port=0", "--no-remote", "--profile", str(profile)]
        self._process = subprocess.Popen(command, stdout=self._log, stderr=subprocess.STDOUT)
        self._numbers = itertools.count(1)
        self._open = ExitStack()
        self._socket = self._open.enter_context(connect(f"{self._address(profile / 'log')}/session", max_size=None))
        self.send("session.new", capabilities={})
        self._window = self.send("browsingContext.getTree")["contexts"][0]["context"]

    def _address(self, log: Path) -> str:
        until = time.monotonic() + 40
        while time.monotonic() < until and self._process.poll() is None:
            there = re.search(r"listening on (ws://\S+)", log.read_text(encoding="utf-8", errors="replace"))
            if there:
                return there[1]
            time.sleep(0.05)
        raise TimeoutError(log.read_text(encoding="utf-8", errors="replace")[-500:])

    def send(self, method: str, **params: Any) -> Any:
        """Ask for something and wait for its answer; what else is told meanwhile is not heard."""
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            answer = json.loads(self._socket.recv(timeout=30))
            if answer.get("id") == number:
                if answer["type"] == "error":
                    raise RuntimeError(f"{method}: {answer['message']}")
                return answer["result"]

    def goto(self, address: str) -> None:
        self.send("browsingContext.navigate", context=self._window, url=address, wait="complete")

    def evaluate(self, code: str) -> Any:
        """The value of an expression of JavaScript, awaited; through JSON."""
        wrapped = f"(async () => JSON.stringify(await ({code})))()"
        answer = self.send("script.evaluate", expression=wrapped, target={"context": self._window}, awaitPromise=True)
        if answer["type"] == "exception":
            raise RuntimeError(answer["exceptionDetails"]["text"])
        value = answer["result"].get("value")
        return None if value is None else json.loads(value)

    def wait(self, code: str, seconds: float = 15) -> None:
        """Until an expression is true."""
        until = time.monotonic() + seconds
        while not self.evaluate(code):
            assert time.monotonic() < until, code
            time.sleep(0.05)

    def drag(
        self, start: tuple[float, float], end: tuple[float, float], *, kind: str = "mouse", steps: int = 8
    ) -> None:
        """Press, move and let go."""
        way = [
            (start[0] + (end[0] - start[0]) * k / steps, start[1] + (end[1] - start[1]) * k / steps)
            for k in range(steps + 1)
        ]
        moves = [{"type": "pointerMove", "x": round(x), "y": round(y), "duration": 20} for x, y in way]
        actions = [
            moves[0],
            {"type": "pointerDown", "button": 0},
            *moves[1:],
            {"type": "pause", "duration": 60},
            {"type": "pointerUp", "button": 0},
        ]
        source = {"type": "pointer", "id": f"hand-{kind}", "parameters": {"pointerType": kind}, "actions": actions}
        self.send("input.performActions", context=self._window, actions=[source])

    def press(self, *keys: str) -> None:
        """Keys pressed together."""
        actions = [{"type": "keyDown", "value": key} for key in keys] + [
            {"type": "keyUp", "value": key} for key in reversed(keys)
        ]
        self.send(
            "input.performActions", context=self._window, actions=[{"type": "key", "id": "keys", "actions": actions}]
        )

    def close(self) -> None:
        try:
            self._open.close()
        finally:
            self._process.terminate()
            self._process.wait(10)
            self._log.close()
