"""Hosts, origins, sizes and rates; headers of every answer."""

import pytest

from desks import opened
from eventide.serving.guards import HostRule
from eventide.serving.limits import Limits


def test_another_host_or_site_is_refused(client):
    assert client.get("/v1/messages", headers={"Host": "evil.example"}).status_code == 421
    assert client.get("/v1/messages", headers={"Host": "localhost:99"}).status_code == 200
    for origin in (
        "http://evil.example",
        "null",
        "http://127.0.0.1:1",
        "https://[",
        "file://127.0.0.1:8765",
    ):
        answer = client.post("/v1/model/reload", headers={"Origin": origin})
        assert answer.status_code == 403, origin
    own = {"Origin": "http://127.0.0.1:8765"}
    assert client.get("/v1/messages", headers=own).status_code == 200
    crossed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    assert client.get("/v1/messages", headers=crossed).status_code == 403


@pytest.mark.parametrize(
    ("bound", "header", "allowed"),
    [
        ("127.0.0.1", "127.0.0.1:80", True),
        ("127.0.0.1", "[::1]:80", True),
        ("127.0.0.1", "192.168.0.4", False),
        ("0.0.0.0", "192.168.0.4:80", True),
        ("0.0.0.0", "desk.example", False),
        ("127.0.0.1", "", False),
        ("127.0.0.1", "127.0.0.1.evil.example", False),
    ],
)
def test_host_rule(bound, header, allowed):
    assert HostRule(bound).allows(header) is allowed
    assert HostRule(bound, ["desk.example"]).allows("DESK.example:443")


def test_every_answer_has_the_headers(client):
    for path in ("/", "/page/app.js", "/v1/messages", "/nope", "/v1/messages?cursor=%ff"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "unsafe" not in policy
        assert "default-src 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
    assert client.get("/page/..%2f__init__.py").status_code == 404


def test_sizes_and_rates_are_bounded(store, shared_model):
    _, client = opened(store, shared_model, limits=Limits(body_bytes=1000, rate=3))
    with client:
        assert client.post("/v1/messages", content=b"x" * 1001).status_code == 413
        assert client.post("/v1/messages", content=iter([b"x" * 600] * 2)).status_code == 413
        answers = [client.get("/healthz") for _ in range(12)]
        assert answers[-1].status_code == 429
        assert int(answers[-1].headers["retry-after"]) >= 1


def test_metrics_count_requests_by_route(client, new_messages):
    client.post("/v1/messages", json=new_messages[:2])
    client.delete("/v1/users/a-secret-name")
    page = client.get("/metrics").text
    assert 'eventide_messages_total{status="new"} 2.0' in page
    assert 'route="/v1/users/{name:path}"' in page or 'route="/users/{name:path}"' in page
    assert "a-secret-name" not in page
