"""Whether this machine can really compute in half precision, found out without risk."""

from __future__ import annotations

import subprocess
import sys
from functools import cache

import torch

from eventide.errors import BadSetting

PROBE = "import torch; a = torch.ones(256, 256, dtype=torch.bfloat16); (a @ a.T).sum().item()"


def check_half_precision(device: torch.device) -> None:
    """Raise a clear error where a product in half precision would end the process.

    Some virtual machines announce instructions that they do not allow; the first product then kills
    the program. So a child process tries one first.
    """
    if device.type == "cpu" and not _survives():
        raise BadSetting(
            "this processor announces half precision but does not allow it",
            where="training.mixed_precision",
            next_step="leave it off, or set the environment variable "
            "ONEDNN_MAX_CPU_ISA=AVX512_CORE before starting",
        )


@cache
def _survives() -> bool:
    done = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, check=False)
    return done.returncode == 0
