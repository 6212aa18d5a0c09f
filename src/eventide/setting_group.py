"""The base of every group of settings; the groups stand beside the code they set."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class SettingGroup(BaseModel):
    """Frozen, typed settings that refuse unknown names; a field's docstring describes it."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True
    )
