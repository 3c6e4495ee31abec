"""The OpenAPI description: every endpoint is in it, and nothing that is sent to them makes the server fail."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

PATHS = {
    "/api/demo", "/api/uploads", "/api/folders", "/api/formats", "/api/collections", "/api/sessions", "/api/jobs",
    "/api/jobs/{job}", "/api/jobs/{job}/preview/{item}", "/api/start",
    "/api/collections/{collection}", "/api/collections/{collection}/essence", "/api/templates", "/api/order",
    "/api/collections/{collection}/ends/{item}",
    "/api/collections/{collection}/preview/{item}", "/api/collections/{collection}/export",
    "/api/collections/{collection}/write",
    "/api/collections/{collection}/review", "/api/collections/{collection}/reasons/{result}",
    "/api/collections/{collection}/losses/{result}",
    "/api/collections/{collection}/session", "/api/desks", "/api/collections/{collection}/reopen",
    "/api/collections/{collection}/desk", "/api/collections/{collection}/versions",
    "/api/collections/{collection}/versions/{name}",
    "/api/collections/{collection}/items/{item}/wave", "/api/collections/{collection}/items/{item}/cover",
}  # fmt: skip


def test_every_endpoint_is_described(server):
    described = server.client.get("/api/openapi.json").json()
    assert set(described["paths"]) == PATHS
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            assert operation["description"], (path, method)
            assert {"400", "403", "404", "413", "422", "429"} <= set(operation["responses"])


def test_no_page_of_documentation_loads_things_from_elsewhere(server):
    assert server.client.get("/docs").status_code == 404
    assert server.client.get("/redoc").status_code == 404


plain = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["icarus", "0:1,1:0"])
)
values = st.recursive(
    plain, lambda v: st.lists(v, max_size=4) | st.dictionaries(st.text(max_size=4), v, max_size=3), max_leaves=6
)
items = st.lists(st.fixed_dictionaries({"id": st.text(max_size=4), "essence": st.floats()}), max_size=6) | values
numbered = st.dictionaries(st.integers(-9, 9).map(str), st.integers(-2, 9) | plain)
runs = st.lists(st.lists(st.integers(-1, 7), max_size=4), max_size=3)
FIELDS = (
    "collection",
    "like",
    "flip",
    "apart",
    "apart_soft",
    "side_limit",
    "limit",
    "smoothness",
    "alternatives",
    "explain",
    "scaled",
)
asked = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(FIELDS, values),
        "items": items,
        "template": values | st.fixed_dictionaries({"knots": values, "values": values}),
        "fixed": numbered | values,
        "together": runs | values,
        "before": runs | values,
        "sides": st.integers(1, 4) | values,
        "choose": st.integers(1, 3) | values,
        "first": numbered | values,
        "last": numbered | values,
        "ordering": st.permutations(range(9)) | st.lists(st.integers(-1, 9)) | values,
        "budget_ms": st.integers(5, 200) | values,
        "sequence": st.integers(-1, 9) | values,
        "side_sizes": st.lists(st.integers(-1, 9), max_size=3),
    },
)


@pytest.mark.slow
@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(asked=asked, ours=st.booleans())
def test_whatever_is_asked_there_is_an_answer(server, demo, asked, ours):
    if ours:
        asked = {**{name: value for name, value in asked.items() if name != "items"}, "collection": demo}
    answer = server.client.post("/api/order", content=json.dumps(asked), headers={"Content-Type": "application/json"})
    assert answer.status_code in (200, 400, 404, 422), answer.text
    if answer.status_code != 200:
        assert list(answer.json()) in (["error", "field"], ["error", "field", "wishes"])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_schemathesis_finds_no_failure(server, demo):
    import schemathesis
    from schemathesis.checks import not_a_server_error

    schema = schemathesis.openapi.from_url(f"{server.address}/api/openapi.json", headers=dict(server.client.headers))
    calls = 0
    for result in schema.get_all_operations():
        operation = result.ok()
        if operation.path == "/api/demo":
            continue  # takes nothing, so there is nothing to find

        @settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck), database=None)
        @given(case=operation.as_strategy())
        def call(case):
            nonlocal calls
            calls += 1
            if "collection" in (case.path_parameters or {}) and calls % 2:
                case.path_parameters["collection"] = demo
            if case.method == "DELETE" and case.path_parameters.get("collection") == demo:
                return
            case.call_and_validate(checks=[not_a_server_error], headers=dict(server.client.headers))

        call()
    assert calls > 150
