"""What every method predicts on a slice of the sample: ``python tests/support/expected_predictions.py`` renews it.

Renew only where a change is meant to move figures, and say so in the commit. Values may differ between
processors in the last digits, so the test allows a little.
"""

import json
from pathlib import Path

import polars as pl

import eventide
from eventide.data.sample import sample
from eventide.methods import METHODS
from eventide.opinions.calibration import ProbabilityCalibration

STORED = Path(__file__).parents[1] / "methods" / "expected_predictions.json"
PRETRAINED = ("bert", "few-shot-minilm")
"""They fine-tune weights of another package, for minutes."""
NAMES = [entry.name for entry in METHODS if entry.name not in PRETRAINED]
SHOWN = 24


def messages() -> pl.DataFrame:
    """Five events of the sample, from the largest to a small one, at most 60 messages a part."""
    everything = sample()
    sizes = everything.group_by("event").len().sort("len", "event", descending=True)
    chosen = sizes["event"].gather([0, 3, 5, 8, 11])
    kept = everything.filter(pl.col("event").is_in(chosen.to_list()))
    return kept.filter(pl.int_range(pl.len()).over("event", "split") < 60)


def predictions(method: str, frame: pl.DataFrame) -> dict[str, list[list[float]]]:
    """Fit a method for three epochs; return probabilities of test messages, known and as new."""
    model = eventide.EventClassifier(
        method=method,
        preset="untuned",  # so that another tuning moves nothing here
        encoder="tfidf-svd:16",
        seed=3,
        training__epochs=3,
        training__batch_size=64,
        training__layer1_refresh=1,  # all layers learn in every step, as they did then
        training__pooled_experts=False,  # tests/model/test_adviser.py has the pool
    ).fit(frame)
    model.calibration_ = ProbabilityCalibration.identity()  # what the method itself says
    asked = frame.filter(split="test").head(SHOWN)
    return {
        kind: [[round(float(each), 5) for each in row] for row in found]
        for kind, found in (
            ("known", model.predict_proba(asked)),
            ("new", model.predict_proba(asked, as_new=True)),
        )
    }


if __name__ == "__main__":
    frame = messages()
    found = {name: predictions(name, frame) for name in NAMES}
    lines = (f"{json.dumps(name)}: {json.dumps(each)}" for name, each in found.items())
    STORED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
