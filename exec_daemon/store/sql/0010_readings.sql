-- How far each reader has read in each thread (O-83, O-85) -------------------------------------------------

CREATE TABLE readings (
    thread TEXT NOT NULL REFERENCES threads (id),
    reader TEXT NOT NULL,
    seq    INTEGER NOT NULL,
    at     TEXT NOT NULL,
    PRIMARY KEY (thread, reader)
) STRICT, WITHOUT ROWID;
