-- Runs that have not ended are asked for at every turn of their timer, however long its history is --------

CREATE INDEX timer_runs_under_way ON timer_runs (timer, due) WHERE state IN ('queued', 'open', 'blocked');
