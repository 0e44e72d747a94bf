-- Which CLI a run was of, and its session, which the next run may resume (A-08) ----------------------------

ALTER TABLE agent_runs ADD COLUMN adapter TEXT;
ALTER TABLE agent_runs ADD COLUMN session TEXT;

CREATE INDEX agent_runs_by_agent ON agent_runs (agent, at);
