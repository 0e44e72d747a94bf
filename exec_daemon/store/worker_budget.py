"""May so many workers be started? Pure; asked inside the transaction that starts them (D124)."""

from __future__ import annotations

from exec_daemon.store.errors import OverBudget
from exec_daemon.store.worker_values import Budget, Worker


def check_budget(
    budget: Budget, first: Worker, wanted: int, *, alive: int, started: int, of_template: int
) -> None:
    """Raises `OverBudget`, which says what there is too much of."""
    for there, most, what in (
        (alive, budget.most_alive, f"workers of {first.root} alive"),
        (started, budget.most_started, f"workers of {first.root} started in the last hour"),
        (of_template, budget.most_of_template, f"workers of the template {first.template} alive"),
    ):
        if there + wanted > most:
            raise OverBudget(f"{there} {what}, at most {most}", first.root)
