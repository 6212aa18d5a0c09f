"""What a message can share with another: hashtags, mentions, urls and named entities.

``with_tags`` fills the first three from the text, ``with_elements`` the entities as well. A list
that was given is never replaced, only written in the canonical form.
"""

from __future__ import annotations

from eventide.features.elements.fill import check_entities, with_elements, with_tags

__all__ = ["check_entities", "with_elements", "with_tags"]
