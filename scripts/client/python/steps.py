"""Steps of a check that drives a server: each is run and printed as one JSON line, as client/steps.mjs prints them.

A step that fails does not end the program, because the next step may still tell something.
"""

import json
import sys
import time

WAIT_LIMIT_S = 60


def step(name, body):
    """Runs one step, prints how it went, and returns the result of `body`, or None when it failed."""
    try:
        value = body()
    except Exception as error:  # noqa: BLE001
        report(name, False, f"{type(error).__name__}: {error}")
        return None
    report(name, True, "")
    return value


def report(name, ok, seen):
    sys.stdout.write(json.dumps({"name": name, "ok": ok, "seen": seen}) + "\n")
    sys.stdout.flush()


def equal(seen, expected):
    if seen != expected:
        raise AssertionError(f"got {seen!r}, expected {expected!r}")


def until(condition, what):
    deadline = time.monotonic() + WAIT_LIMIT_S
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {WAIT_LIMIT_S} s for {what}")
        time.sleep(0.05)
