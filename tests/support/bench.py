"""What the cases of failure share: a small set of messages, a small model, and a command line to run."""

import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
import pytest

QUICK = (
    "--encoder",
    "tfidf-svd:8",
    "--set",
    "training.epochs=1",
    "--set",
    "training.batch_size=64",
)


@dataclass
class Outcome:
    """How a command ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> str:
        return self.out + self.err

    def sound(self) -> "Outcome":
        """Whatever happens: no traceback, no confession of a bug, no name of a foreign exception."""
        for trace in ("Traceback (most recent", "this is a bug", "ValidationError", "np.str_("):
            assert trace not in self.said, self.said[-3000:]
        assert self.code in (0, 1, 2), f"exit code {self.code}: {self.said[-1000:]}"
        return self

    def fails(self, *says: str, code: int = 2) -> "Outcome":
        """It ends as a typed error that says what, and what next."""
        self.sound()
        assert self.code == code, f"exit code {self.code}: {self.said[-2000:]}"
        assert "next:" in self.err or "Try " in self.err, self.err[-2000:]
        for word in says:
            assert word.lower() in self.err.lower(), f"{word!r} not in: {self.err[-2000:]}"
        return self

    def works(self, *says: str) -> "Outcome":
        self.sound()
        assert self.code == 0, f"exit code {self.code}: {self.said[-2000:]}"
        for word in says:
            assert word.lower() in self.said.lower(), f"{word!r} not in: {self.said[-2000:]}"
        return self


@dataclass
class Bench:
    """A folder of one's own, with messages and (a copy of) a trained model."""

    folder: Path
    messages: pl.DataFrame
    finished: Path
    patch: pytest.MonkeyPatch
    made: dict[str, Path] = field(default_factory=dict)

    @property
    def rows(self) -> list[dict[str, object]]:
        """The messages as plain rows: id, text, created_at (text), event, user, split."""
        return self.messages.select(
            "id", "text", pl.col("created_at").dt.strftime("%Y-%m-%dT%H:%M:%SZ"), "event", "user", "split"
        ).to_dicts()  # fmt: skip

    @property
    def model(self) -> Path:
        """A copy of the trained model that a case may damage."""
        if "model" not in self.made:
            self.made["model"] = Path(shutil.copytree(self.finished, self.folder / "a-model"))
        return self.made["model"]

    def jsonl(self, name: str = "messages.jsonl", rows: list[dict] | None = None) -> Path:
        path = self.folder / name
        lines = (json.dumps(row) for row in (self.rows if rows is None else rows))
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    def csv(
        self, name: str = "messages.csv", rows: list[dict] | None = None, separator: str = ","
    ) -> Path:
        path = self.folder / name
        frame = pl.DataFrame(self.rows if rows is None else rows, infer_schema_length=None)
        frame.write_csv(path, separator=separator)
        return path

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def run(self, *words: object, stdin: str | None = None) -> Outcome:
        """Run the command line in this process, in this folder."""
        from eventide.cli.main import main

        self.patch.chdir(self.folder)
        self.patch.setattr(sys, "argv", ["eventide", *map(str, words)])
        if stdin is not None:
            self.patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
        err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
        code = 0
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                main()
            except SystemExit as ended:
                code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        return Outcome(
            code, *(each.buffer.getvalue().decode("utf-8", "replace") for each in (out, err))
        )

    def train(
        self, source: Path, *words: object, out: str | Path = "trained", quick: bool = True
    ) -> Outcome:
        return self.run("train", source, "--out", out, *(QUICK if quick else ()), *words)

    def manifest(self, change, *, seal: bool = True) -> None:
        """Change the manifest of the model's copy; ``seal`` renews its checksum, as a hostile hand would."""
        from eventide.storage.bundle import sealed

        path = self.model / "manifest.json"
        content = json.loads(path.read_text())
        change(content)
        path.write_bytes(sealed(content, path) if seal else json.dumps(content).encode())


def process(*words: object, cwd: Path, **environment: str) -> Outcome:
    """Run the command line in a process of its own, bounded in time."""
    done = subprocess.run(
        [sys.executable, "-m", "eventide", *map(str, words)],
        cwd=cwd, capture_output=True, timeout=120, env={**os.environ, **environment},
    )  # fmt: skip
    return Outcome(
        done.returncode, *(each.decode("utf-8", "replace") for each in (done.stdout, done.stderr))
    )


@contextlib.contextmanager
def small_disk(folder: Path, kilobytes: int = 300, *, read_only: bool = False):
    """A real file system that is too small, or that cannot be written to; skipped where none can be made."""
    folder.mkdir()
    option = f"size={kilobytes}k" + (",ro" if read_only else "")
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", option, "tmpfs", str(folder)], capture_output=True
    )
    if made.returncode:
        pytest.skip("no file system can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@contextlib.contextmanager
def another_user():
    """Be nobody for a while; what must be imported has been by then."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    os.setresuid(65534, 65534, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)
