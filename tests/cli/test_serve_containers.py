"""The compose file and the Dockerfile say what the command and the service understand."""

import os
import shlex
import subprocess
import tomllib

import pytest
import typer
import yaml
from sqlalchemy.engine import make_url

from eventide.cli.main import app
from eventide.serving.access_tokens import read_token_file
from eventide.serving.guards import HostRule
from eventide.serving.server import GRACE_SECONDS
from processes import LONG
from tree import ROOT

SECRETS = "/run/secrets"


@pytest.fixture(scope="module")
def compose():
    return yaml.safe_load((ROOT / "docker-compose.yml").read_text())


@pytest.fixture(scope="module")
def dockerfile():
    """The instructions of the Dockerfile, continued lines joined: (word, rest)."""
    text = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [tuple(line.split(None, 1)) for line in lines]


@pytest.fixture
def started(compose, tmp_path):
    """What the container would run: arguments of `eventide`, and its store, by the file's shell."""
    desk = compose["services"]["desk"]
    for name in desk["secrets"]:
        (tmp_path / name).write_text("s3cret\n")
    stub = tmp_path / "eventide"
    stub.write_text('#!/bin/sh\necho "$EVENTIDE_STORE"\nprintf "%s\\n" "$@"\n')
    stub.chmod(0o755)
    (words,) = desk["command"]
    words = words.replace("$$", "$").replace(SECRETS, str(tmp_path))
    environment = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        [*desk["entrypoint"], words],
        capture_output=True,
        text=True,
        env=environment,
        check=True,
        timeout=LONG,
    )
    store, *given = done.stdout.splitlines()
    return store, [word.replace(str(tmp_path), SECRETS) for word in given]


def parsed(words):
    """Let the real command read its options; nothing is run."""
    command = typer.main.get_command(app).commands[words[0]]
    return command, command.make_context(words[0], list(words[1:])).params


def test_the_service_is_started_as_the_command_understands(compose, started):
    store, words = started
    desk = compose["services"]["desk"]
    command, options = parsed(words)
    (target,) = (each.split(":")[1] for each in desk["volumes"])
    assert str(options["model"].parent) == target  # a mounted folder could not be replaced itself
    (published,) = desk["ports"]
    address, _, inside = published.split(":")
    assert address == "127.0.0.1"
    assert int(inside) == options["port"]
    assert HostRule(options["host"]).allows(f"{address}:{inside}")
    assert str(options["token_file"]) == f"{SECRETS}/tokens"
    (variable,) = (each.envvar for each in command.params if each.name == "store")
    assert variable == "EVENTIDE_STORE"
    assert int(desk["stop_grace_period"].rstrip("s")) > GRACE_SECONDS
    assert f":{inside}/readyz" in desk["healthcheck"]["test"][-1]
    compile(desk["healthcheck"]["test"][-1], "healthcheck", "exec")
    url = make_url(store)
    database = compose["services"]["store"]
    assert (url.username, url.database) == (
        database["environment"]["POSTGRES_USER"],
        database["environment"]["POSTGRES_DB"],
    )
    assert url.password == "s3cret"
    assert url.host in compose["services"]
    assert url.host in desk["depends_on"]


def test_secrets_and_volumes_are_declared(compose):
    for service in compose["services"].values():
        assert set(service["secrets"]) <= set(compose["secrets"])
        for each in service["volumes"]:
            source = each.split(":")[0]
            assert source.startswith("./") or source in compose["volumes"]
    assert compose["services"]["store"]["environment"]["POSTGRES_PASSWORD_FILE"] == (
        f"{SECRETS}/postgres"
    )


def test_the_first_lines_make_secrets_that_are_taken(compose, tmp_path):
    comments = (ROOT / "docker-compose.yml").read_text().splitlines()
    lines = [each.removeprefix("#").strip() for each in comments if each.startswith("#   ")]
    made = next(line for line in lines if line.endswith("secrets/tokens"))
    (tmp_path / "secrets").mkdir()
    stub = tmp_path / "openssl"
    stub.write_text(f"#!/bin/sh\necho {'ab' * 24}\n")
    stub.chmod(0o755)
    environment = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    subprocess.run(["sh", "-c", made], cwd=tmp_path, env=environment, check=True, timeout=LONG)
    (holder,) = read_token_file(tmp_path / "secrets" / "tokens").values()
    assert holder.allows == {"read", "review", "ingest"}
    for name, secret in compose["secrets"].items():
        assert any(f"secrets/{name}" in line for line in lines)
        assert secret["file"] == f"./secrets/{name}"


def test_the_image_is_built_of_what_is_there(compose, dockerfile):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    default = next(rest for word, rest in dockerfile if word == "ARG").partition("=")[2]
    for extras in (default, compose["services"]["desk"]["build"]["args"]["EXTRAS"]):
        assert set(extras.split(",")) <= set(project["optional-dependencies"])
    assert "postgres" in compose["services"]["desk"]["build"]["args"]["EXTRAS"].split(",")
    copied = [shlex.split(rest) for word, rest in dockerfile if word == "COPY"]
    for *sources, _ in (each for each in copied if not each[0].startswith("--")):
        assert all((ROOT / source).exists() for source in sources), sources
    assert ("ENTRYPOINT", '["eventide"]') in dockerfile
    assert "eventide" in project["scripts"]
    python = next(rest for word, rest in dockerfile if word == "FROM").split()[0]
    least = project["requires-python"].removeprefix(">=").split(",")[0]
    found = python.removeprefix("python:").removesuffix("-slim")
    assert tuple(map(int, found.split("."))) >= tuple(map(int, least.split(".")))
    user = next(rest for word, rest in dockerfile if word == "USER")
    assert user == "eventide"
