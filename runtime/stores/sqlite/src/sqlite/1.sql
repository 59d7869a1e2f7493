-- `body` is the whole record; the columns beside it are what calls are found by, and what a claim is held by. What is in
-- `lease` and `delivered` counts, not the same in the body: it changes without writing the record again.
CREATE TABLE calls (
    id BLOB NOT NULL PRIMARY KEY,
    run TEXT NOT NULL,
    turn INTEGER,
    idx INTEGER NOT NULL,
    tool TEXT NOT NULL,
    digest TEXT NOT NULL,
    created INTEGER NOT NULL,
    state TEXT NOT NULL,
    version INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    due INTEGER,
    delivered INTEGER NOT NULL,
    lease TEXT,
    body TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX calls_by_place ON calls (run, turn, idx) WHERE turn IS NOT NULL;
CREATE INDEX calls_by_run ON calls (run, id);
CREATE INDEX calls_by_due ON calls (due, id) WHERE due IS NOT NULL;
-- A call that runs at once and succeeds is what most calls are. Few look for those by state, nobody by digest, so that
-- they are left out where leaving them out saves a write.
CREATE INDEX calls_by_state ON calls (state, id) WHERE state <> 'succeeded';
CREATE INDEX calls_by_digest ON calls (run, digest, id) WHERE state NOT IN ('running', 'succeeded');

CREATE TABLE events (
    call BLOB NOT NULL,
    number INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (call, number)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER events_are_not_changed BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'what happened to a call is only ever added to'); END;

CREATE TRIGGER events_are_not_removed BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, 'what happened to a call is only ever added to'); END;

CREATE TABLE documents (
    key TEXT NOT NULL PRIMARY KEY,
    version INTEGER NOT NULL,
    text TEXT NOT NULL
) STRICT, WITHOUT ROWID;
