"""From a call to its result: ops and their registry, admission, jobs that run, and what they come to."""
