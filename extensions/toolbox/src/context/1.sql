-- The entries by logical path, with their latest version; `versions` holds all texts.
CREATE TABLE entries (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    version INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    -- Where a refresh finds it anew, such as `file:README.md`.
    source TEXT
) STRICT;

CREATE TABLE versions (
    entry INTEGER NOT NULL REFERENCES entries (id) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    content TEXT NOT NULL,
    hash TEXT NOT NULL,
    note TEXT,
    -- Milliseconds since 1970.
    written_at INTEGER NOT NULL,
    PRIMARY KEY (entry, version)
) STRICT;

-- The parts of the latest versions, in which a search looks.
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY,
    entry INTEGER NOT NULL REFERENCES entries (id) ON DELETE CASCADE,
    first_line INTEGER NOT NULL,
    text TEXT NOT NULL
) STRICT;
CREATE INDEX chunks_by_entry ON chunks (entry);

-- Words are compared without case and accents.
CREATE VIRTUAL TABLE chunk_index USING fts5(
    text,
    content = 'chunks',
    content_rowid = 'id',
    tokenize = 'unicode61 remove_diacritics 2'
);
CREATE TRIGGER chunks_inserted AFTER INSERT ON chunks BEGIN
    INSERT INTO chunk_index (rowid, text) VALUES (new.id, new.text);
END;
CREATE TRIGGER chunks_deleted AFTER DELETE ON chunks BEGIN
    INSERT INTO chunk_index (chunk_index, rowid, text) VALUES ('delete', old.id, old.text);
END;
