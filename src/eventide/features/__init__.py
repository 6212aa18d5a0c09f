"""Text to vectors (encoders), text to elements (hashtags, mentions, urls, entities), times to days."""
