"""A stage that also runs shuffled features through the network while it learns."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from eventide.methods.event_detection.sampled_stage import VIEW, SampledStage
from eventide.networks.multi_view import ViewOutput
from eventide.training.corpus import Ints
from eventide.training.stage import Outputs


@dataclass(frozen=True, eq=False)
class Shuffled(ViewOutput):
    """An output beside what the network says of the same graph with others' features [B, d]."""

    shuffled: Tensor


class InfomaxStage(SampledStage):
    """Features are shuffled by rotating them; the first row of a batch, itself random, says how."""

    def learn(self, rows: Ints) -> Outputs:
        """Run rows of the graph twice, the second time with others' features."""
        if self.network.encoder_frozen:
            return super().learn(rows)
        self.network.train()
        self._states.drop()
        inputs, blocks = self.field(rows)
        step = 1 + int(rows[0]) % max(len(inputs) - 1, 1)
        output = self._output(self.network.states(inputs, blocks))[VIEW]
        other = self.network.states(torch.roll(inputs, step, dims=0), blocks)
        return {VIEW: Shuffled(output.embeddings, output.logits, output.settings, other)}
