-- Contents of files, by the SHA-256 of their bytes.
CREATE TABLE contents (hash TEXT NOT NULL PRIMARY KEY, bytes BLOB NOT NULL);

CREATE TABLE calls (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id BLOB NOT NULL UNIQUE,
    run TEXT,
    turn INTEGER,
    place INTEGER,
    tool TEXT NOT NULL,
    began INTEGER NOT NULL,
    -- Why the call may have changed more than its changes say.
    unnamed TEXT
);
CREATE INDEX calls_by_turn ON calls (run, turn);

-- `after` is absent while the call runs, and after the call was interrupted.
CREATE TABLE changes (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    call INTEGER NOT NULL REFERENCES calls (number),
    path TEXT NOT NULL,
    before TEXT NOT NULL,
    before_hash TEXT,
    after TEXT,
    after_hash TEXT,
    above TEXT NOT NULL,
    is_undo INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX changes_by_path ON changes (path, number);
CREATE INDEX changes_by_call ON changes (call);
CREATE INDEX changes_by_before ON changes (before_hash);
CREATE INDEX changes_by_after ON changes (after_hash);

-- Which undo (`by`) takes back which change.
CREATE TABLE undone (
    change INTEGER NOT NULL REFERENCES changes (number) ON DELETE CASCADE,
    by INTEGER NOT NULL REFERENCES changes (number) ON DELETE CASCADE,
    PRIMARY KEY (change, by)
) WITHOUT ROWID;
CREATE INDEX undone_by ON undone (by);
