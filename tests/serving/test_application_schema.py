"""Whatever a client sends by the OpenAPI document, the service does not fail."""

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import not_a_server_error

from desks import opened

LEFT_OUT = ("/v1/updates", "/v1/model/learn", "/v1/model/reload", "/v1/model/restore")
"""A stream without an end, and what would read or train a model at every call."""


@pytest.fixture
def fuzzed_schema(store, shared_model, new_messages):
    _, client = opened(store, shared_model, allow_hosts=("testserver",))
    with client:
        client.post("/v1/messages", json=new_messages[:10])
        schema = schemathesis.openapi.from_asgi("/openapi.json", client.app)
        yield schema.exclude(path=list(LEFT_OUT))


schema = schemathesis.pytest.from_fixture("fuzzed_schema")


@schema.parametrize()
@settings(
    max_examples=8,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
    derandomize=True,
)
def test_no_request_makes_the_service_fail(case):
    answer = case.call()
    case.validate_response(answer, checks=[not_a_server_error])
    assert answer.status_code < 500


def test_the_document_has_examples(file_client):
    document = file_client.get("/openapi.json").json()
    assert document["components"]["schemas"]["NewMessage"]["examples"][0]["id"] == "1001"
    answers = document["paths"]["/v1/messages"]["post"]["responses"]
    assert answers["201"]["content"]["application/json"]["example"]["messages"]
    assert {"401", "403", "422"} <= set(answers)
