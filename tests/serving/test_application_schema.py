"""Whatever a client sends by the OpenAPI document, the service does not fail."""

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings

from desks import opened

LEFT_OUT = ["/v1/updates", "/v1/model/learn", "/v1/model/reload", "/v1/model/restore"]
"""A stream without an end, and what would read or train a model at every call."""


def test_no_request_makes_the_service_fail(store, shared_model, new_messages):
    _, client = opened(store, shared_model)
    with client:
        client.post("/v1/messages", json=new_messages[:10])
        schema = schemathesis.openapi.from_dict(client.get("/openapi.json").json())
        seen = []
        for found in schema.exclude(path=LEFT_OUT).get_all_operations():
            operation = found.ok()

            @settings(
                max_examples=12,
                phases=[Phase.generate],
                suppress_health_check=list(HealthCheck),
                derandomize=True,
                database=None,
            )
            @given(case=operation.as_strategy())
            def ask(case):
                given = case.as_transport_kwargs(base_url="http://127.0.0.1:8765")
                given = {
                    key: given[key] for key in ("method", "url", "json", "params") if given.get(key)
                }
                answer = client.request(**given)
                seen.append((case.method, answer.status_code))
                assert answer.status_code < 500, (given, answer.text)

            ask()
    assert len(seen) > 100
    assert {status for _, status in seen} >= {200, 422}


def test_the_document_has_examples(file_client):
    document = file_client.get("/openapi.json").json()
    assert document["components"]["schemas"]["NewMessage"]["examples"][0]["id"] == "1001"
    answers = document["paths"]["/v1/messages"]["post"]["responses"]
    assert answers["201"]["content"]["application/json"]["example"]["messages"]
    assert {"401", "403", "422"} <= set(answers)
