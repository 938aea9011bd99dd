# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, driven over the pipes of its DevTools protocol: no library and no port is needed."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-default-apps", "--disable-extensions", "--disable-dev-shm-usage",
    "--no-proxy-server", "--mute-audio", "--remote-debugging-pipe",
]


class Failure(Exception):
    pass


def find():
    return next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None)


class Chromium:
    """`with Chromium() as browser`: one process with a profile of its own, and one tab."""

    def __init__(self, program=None):
        self.profile = tempfile.TemporaryDirectory(prefix="page-", ignore_cleanup_errors=True)
        to_child, self.out = os.pipe()
        self.inp, from_child = os.pipe()

        def move():
            # The browser reads commands from descriptor 3 and writes to 4.
            commands, answers = os.dup(to_child), os.dup(from_child)
            os.dup2(commands, 3)
            os.dup2(answers, 4)

        self.process = subprocess.Popen(
            [program or find(), *FLAGS, f"--user-data-dir={self.profile.name}", "about:blank"], preexec_fn=move,
            close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "TZ": "UTC"})
        os.close(to_child)
        os.close(from_child)
        self.rest = b""
        self.number = 0
        self.session = self.tab = None
        self.events = []
        self.open_tab()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close", of_browser=True)
            self.process.wait(10)
        except (Failure, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.out)
        os.close(self.inp)
        self.profile.cleanup()

    def open_tab(self):
        """A new one in front, in place of the one before."""
        if self.session:
            self.call("Target.closeTarget", targetId=self.tab, of_browser=True)
        self.tab = target = self.call("Target.createTarget", url="about:blank", of_browser=True)["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True, of_browser=True)["sessionId"]
        for domain in ["Page", "Runtime", "Network", "Log", "Accessibility"]:
            self.call(f"{domain}.enable")
        self.call("Page.bringToFront")
        self.resize(1280, 900)
        self.events.clear()

    def resize(self, width, height, mobile=False, scale=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=mobile)

    def _read(self, seconds):
        end = time.monotonic() + seconds
        while b"\0" not in self.rest:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.inp], [], [], left)[0]:
                return None
            part = os.read(self.inp, 1 << 20)
            if not part:
                raise Failure("the browser has ended")
            self.rest += part
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, of_browser=False, timeout=30, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session and not of_browser:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + timeout
        while True:
            got = self._read(end - time.monotonic())
            if got is None:
                raise Failure(f"{method} did not answer within {timeout} s")
            if got.get("id") == self.number:
                if "error" in got:
                    raise Failure(f"{method}: {got['error']['message']}")
                return got["result"]
            self._note(got)

    def _note(self, event):
        # What a tab says that has been closed comes late.
        if event.get("sessionId") == self.session:
            self.events.append(event)

    def wait(self, seconds):
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            got = self._read(left)
            if got:
                self._note(got)

    def go(self, url):
        self.call("Page.navigate", url=url)

    def run(self, script):
        got = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True,
                        allowUnsafeEvalBlockedByCSP=False)
        if "exceptionDetails" in got:
            raise Failure(f"{script}: {got['exceptionDetails']}")
        return got["result"].get("value")

    def until(self, script, seconds=15):
        """Waits until an expression is true."""
        end = time.monotonic() + seconds
        while True:
            try:
                # An element that is missing so far makes it false.
                value = self.run(f"!!({script})")
                error = None
            except Failure as failure:
                value, error = None, failure
            if value:
                return value
            if time.monotonic() > end:
                raise Failure(f"this did not come true within {seconds} s: {script}; {error or ''}")
            self.wait(0.05)

    def key(self, key, text=None, modifiers=0):
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowUp": 38, "ArrowDown": 40, "Backspace": 8, "End": 35, "Home": 36}
        text = text if text is not None else (key if len(key) == 1 else "\r" if key == "Enter" else "")
        facts = {"key": key, "modifiers": modifiers, "windowsVirtualKeyCode": codes.get(key, ord(key[0].upper()))}
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **facts)
        self.call("Input.dispatchKeyEvent", type="keyUp", **facts)

    def drag(self, from_x, from_y, to_x, to_y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=from_x, y=from_y)
        self.call("Input.dispatchMouseEvent", type="mousePressed", x=from_x, y=from_y, button="left", clickCount=1)
        for part in range(1, 6):
            self.call("Input.dispatchMouseEvent", type="mouseMoved", x=from_x + (to_x - from_x) * part / 5, y=from_y + (to_y - from_y) * part / 5, button="left")
        self.call("Input.dispatchMouseEvent", type="mouseReleased", x=to_x, y=to_y, button="left", clickCount=1)

    def dark(self, is_dark):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}])

    def picture(self, path):
        image = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(image))

    def complaints(self):
        """Errors of the console, exceptions, and violations of the policy."""
        found = []
        for event in self.events:
            facts = event.get("params", {})
            if event.get("method") == "Runtime.exceptionThrown":
                found.append(facts["exceptionDetails"].get("exception", {}).get("description", "exception"))
            elif event.get("method") == "Runtime.consoleAPICalled" and facts["type"] in ("error", "warning"):
                found.append(" ".join(str(argument.get("value", argument.get("description"))) for argument in facts["args"]))
            elif event.get("method") == "Log.entryAdded" and facts["entry"]["level"] in ("error", "warning"):
                found.append(f"{facts['entry']['text']} {facts['entry'].get('url', '')}".strip())
        return found

    def requested(self):
        return [event["params"]["request"]["url"] for event in self.events if event.get("method") == "Network.requestWillBeSent"]

    def controls(self):
        """Role, name and description of what the accessibility tree has."""
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        return [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if not node.get("ignored") and "role" in node]
