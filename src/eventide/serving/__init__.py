"""The analyst's desk: a store of messages, an HTTP service, review, drift, and the page.

Where to start: `application` puts the routes together, `ingest` is the path of a message from a
request into the store, `store` is the database. Only ``eventide serve`` and its kin import this.
"""
