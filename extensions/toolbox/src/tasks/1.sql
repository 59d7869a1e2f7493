CREATE TABLE tasks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    subject TEXT NOT NULL,
    description TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'pending'
        CHECK (status IN ('pending', 'in_progress', 'waiting', 'completed', 'failed', 'deleted')),
    -- Who it is meant for; any worker may claim a task that has no owner.
    owner TEXT,
    -- A JSON object.
    metadata TEXT NOT NULL DEFAULT '{}',
    -- The summary of a completed task, or why it failed or waits.
    result TEXT,
    -- Who claimed it last.
    worker TEXT,
    -- How often it was claimed: a later claim ends the one before.
    epoch INTEGER NOT NULL DEFAULT 0,
    -- When its worker was last alive, in milliseconds since 1970; NULL while it is not claimed.
    heartbeat INTEGER CHECK (heartbeat IS NULL OR (worker IS NOT NULL AND status = 'in_progress')),
    -- The idempotency key of the call that made it, so that a repeated call makes no second task.
    key TEXT UNIQUE
) STRICT;
CREATE INDEX tasks_by_status ON tasks (status, id);

-- `blocked` may begin after `blocker` is completed. Deleted tasks have no row here.
CREATE TABLE blocks (
    blocker INTEGER NOT NULL REFERENCES tasks (id),
    blocked INTEGER NOT NULL REFERENCES tasks (id),
    PRIMARY KEY (blocker, blocked),
    CHECK (blocker <> blocked)
) STRICT, WITHOUT ROWID;
CREATE INDEX blocks_by_blocked ON blocks (blocked);
