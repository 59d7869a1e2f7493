CREATE TABLE project (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    repository TEXT NOT NULL,
    url TEXT,
    language TEXT,
    branch TEXT NOT NULL,
    persona TEXT NOT NULL
) STRICT;

CREATE TABLE ticket (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    project INTEGER NOT NULL REFERENCES project,
    kind TEXT NOT NULL CHECK (kind IN ('FEATURE', 'BUG', 'CHORE')),
    state TEXT NOT NULL CHECK (state IN ('BACKLOG', 'RESEARCH', 'IN_PROGRESS', 'VERIFICATION', 'DONE')),
    sub_state TEXT CHECK (sub_state IN ('returned', 'blocked', 'waiting', 'failed', 'finished')),
    title TEXT NOT NULL,
    description TEXT NOT NULL,
    profile TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    -- The last comment of a person that an agent has read.
    comments_read INTEGER NOT NULL DEFAULT 0,
    -- Who works on it, until when, and how often it was taken.
    runner TEXT,
    lease_until INTEGER NOT NULL DEFAULT 0,
    epoch INTEGER NOT NULL DEFAULT 0,
    not_before INTEGER NOT NULL DEFAULT 0
) STRICT;

-- What a runner picks from: however many tickets are in the other columns, it reads these alone.
CREATE INDEX ticket_to_work_on ON ticket (updated_at) WHERE state IN ('RESEARCH', 'IN_PROGRESS');

CREATE TABLE transition (
    id INTEGER PRIMARY KEY,
    ticket INTEGER NOT NULL REFERENCES ticket ON DELETE CASCADE,
    from_state TEXT NOT NULL,
    to_state TEXT NOT NULL,
    reason TEXT NOT NULL,
    moved_by TEXT NOT NULL,
    moved_at INTEGER NOT NULL,
    -- The key of the call that moved it: made again, it finds what it did.
    key TEXT UNIQUE
) STRICT;
CREATE INDEX transition_of_ticket ON transition (ticket);

CREATE TABLE criterion (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    ticket INTEGER NOT NULL REFERENCES ticket ON DELETE CASCADE,
    text TEXT NOT NULL,
    evidence TEXT NOT NULL,
    met INTEGER NOT NULL DEFAULT 0 CHECK (met IN (0, 1)),
    tree TEXT,
    finding TEXT,
    checked_at INTEGER
) STRICT;
CREATE INDEX criterion_of_ticket ON criterion (ticket);

CREATE TABLE comment (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    ticket INTEGER NOT NULL REFERENCES ticket ON DELETE CASCADE,
    parent INTEGER REFERENCES comment,
    author TEXT NOT NULL CHECK (author IN ('human', 'agent')),
    author_id TEXT NOT NULL,
    author_name TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('question', 'status', 'completion', 'feedback')),
    content TEXT NOT NULL,
    resolved INTEGER NOT NULL DEFAULT 0 CHECK (resolved IN (0, 1)),
    created_at INTEGER NOT NULL,
    key TEXT UNIQUE
) STRICT;
CREATE INDEX comment_of_ticket ON comment (ticket, id);

CREATE TABLE document (
    id INTEGER PRIMARY KEY,
    ticket INTEGER NOT NULL REFERENCES ticket ON DELETE CASCADE,
    kind TEXT NOT NULL CHECK (kind IN ('RESEARCH', 'IMPLEMENTATION_PLAN', 'TODO')),
    status TEXT NOT NULL CHECK (status IN ('DRAFT', 'READY', 'APPROVED')),
    content TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX document_of_ticket ON document (ticket);

-- One row for each slice of work.
CREATE TABLE run (
    id INTEGER PRIMARY KEY,
    ticket INTEGER NOT NULL REFERENCES ticket ON DELETE CASCADE,
    epoch INTEGER NOT NULL,
    runner TEXT NOT NULL,
    began_at INTEGER NOT NULL,
    ended_at INTEGER,
    outcome TEXT CHECK (outcome IN ('completed', 'blocked', 'waiting', 'timeout', 'error')),
    detail TEXT,
    UNIQUE (ticket, epoch)
) STRICT;
