"""What the service tells Prometheus of itself."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1, 2.5, 5, 10)


class Measures:
    """Counters and times of one service."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "eventide_requests",
            "Requests by route, method and status.",
            ["route", "method", "status"],
            registry=self.registry,
        )
        self._seconds = Histogram(
            "eventide_request_seconds",
            "Seconds from request to answer.",
            ["route"],
            buckets=SECONDS,
            registry=self.registry,
        )
        self.messages = Counter(
            "eventide_messages",
            "Messages by what became of them: new, known, taken.",
            ["status"],
            registry=self.registry,
        )
        self.reviews = Counter(
            "eventide_reviews", "Reviews by action.", ["action"], registry=self.registry
        )
        self.batch = Histogram(
            "eventide_batch_messages",
            "Messages answered together.",
            buckets=(1, 2, 4, 8, 16, 32, 64),
            registry=self.registry,
        )
        self.waiting = Gauge(
            "eventide_waiting_messages", "Messages that wait for an answer.", registry=self.registry
        )
        self.set_aside = Gauge(
            "eventide_set_aside_messages",
            "Messages that could not be grouped yet, by the kind of error.",
            ["error"],
            registry=self.registry,
        )
        self.listeners = Gauge(
            "eventide_listeners", "Pages that get live updates.", registry=self.registry
        )
        self.model = Gauge(
            "eventide_model", "The model that answers.", ["version"], registry=self.registry
        )

    def request(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count a request."""
        if method not in ("GET", "POST", "DELETE", "HEAD", "OPTIONS", "PUT", "PATCH"):
            method = "other"
        self._requests.labels(route, method, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def page(self) -> bytes:
        """Write everything in Prometheus' text format."""
        return generate_latest(self.registry)
