-- Most jobs succeed, and each one that ends would be written into a list by state: it holds the others only ---

DROP INDEX jobs_in_state;
CREATE INDEX jobs_not_succeeded ON jobs (state) WHERE state <> 'succeeded';
