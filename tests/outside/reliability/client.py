"""Reports turns to the daemon of a home: one line of JSON in, `sent` and `kept PLACE` out, until its input ends.

What is not acknowledged is sent again with the same ids, to whichever daemon the home has by then.
"""

import http.client
import json
import pathlib
import sys
import time

HOME, PROFILE = pathlib.Path(sys.argv[1]), sys.argv[2]
PATIENCE = 300
"""Seconds after which a turn is given up."""


def reached():
    """A connection to the daemon that the home has now, and its token."""
    state = json.loads((HOME / "hermesd/daemon.json").read_text())
    host, port = state["address"].rsplit(":", 1)
    token = (HOME / "hermesd/api-token").read_text().strip()
    return http.client.HTTPConnection(host, int(port), timeout=60), token


def told(connection, token, turn):
    """Sends it once; where it is kept, or why it is not."""
    headers = {"Authorization": f"Bearer {token}", "X-Hermes-Profile": PROFILE}
    connection.request("POST", "/api/v1/turns", turn, headers)
    print("sent", flush=True)
    answer = connection.getresponse()
    text = answer.read()
    if answer.status != 200:
        return None, f"{answer.status} {text.decode()}"
    return json.loads(text)["results"][0]["kept_in"], None


def keep(line, kept):
    """Sends it until it is acknowledged; `kept` is the connection of the turn before."""
    begun, why = time.monotonic(), None
    while time.monotonic() - begun < PATIENCE:
        try:
            kept = kept or reached()
            place, why = told(*kept, line)
            if place:
                print("kept", place, flush=True)
                return kept
        # A daemon that is gone, one that is just coming, and the port of one that another home has now.
        except (OSError, ValueError, KeyError, http.client.HTTPException) as error:
            why = repr(error)
        kept = None
        print("again", why.replace("\n", " "), flush=True)
        time.sleep(0.02)
    sys.exit(f"not acknowledged in {PATIENCE} seconds: {why}")


kept = None
for line in sys.stdin:
    kept = keep(line.strip().encode(), kept)
