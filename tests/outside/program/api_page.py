"""Asks everything that the page of the API describes, with values made from it; prints what did not fit."""

import json
import sys

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

BASE, TOKEN = sys.argv[1], sys.argv[2]
HEADERS = {"Authorization": f"Bearer {TOKEN}"}
schema = schemathesis.openapi.from_url(f"{BASE}/openapi.json")
failures, calls = [], 0



def tester(operation):
    """A test that asks one operation with values made from its description."""

    @settings(
        max_examples=8,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(data=st.data())
    def ask(data):
        global calls
        case = data.draw(operation.as_strategy())
        case.headers = {
            name: value
            for name, value in dict(case.headers or {}).items()
            if not name.lower().startswith("x-hermes")
        }
        response = case.call(base_url=BASE, headers=HEADERS, timeout=30)
        calls += 1
        if response.status_code >= 500:
            failures.append([operation.label, response.status_code, response.text[:300]])
            return
        try:
            operation.validate_response(response)
        except Exception as error:  # every mismatch is reported, none ends the run
            failures.append([operation.label, response.status_code, str(error)[:400]])

    return ask


for result in schema.get_all_operations():
    operation = result.ok()
    # It answers as long as somebody listens.
    if operation.path != "/api/v1/changes":
        tester(operation)()

print(json.dumps({"calls": calls, "failures": failures[:10]}))
