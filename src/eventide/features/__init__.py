"""Text to vectors (encoders), text to elements (tags, mentions, urls, entities), times to days."""
