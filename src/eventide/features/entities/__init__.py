"""Named entities: by rule with fixed word lists, or by a spaCy pipeline."""
