"""The client of the daemon: HTTPS with our own CA, timeouts, and retries where they are safe."""

from harvester.client.daemon_client import TIMEOUT_S, DaemonClient, Posted, Replies
from harvester.client.follow_job import follow_job
from harvester.client.retry import NO_RETRY, PATIENT, RetryPolicy

__all__ = [
    "NO_RETRY",
    "PATIENT",
    "TIMEOUT_S",
    "DaemonClient",
    "Posted",
    "Replies",
    "RetryPolicy",
    "follow_job",
]
