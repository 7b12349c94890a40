-- Sessions with their history, environment, plugin states, queries and events.
-- `number` keeps the order of arrival. Times are RFC 3339 in UTC with six digits, so that texts sort as times do.

CREATE TABLE sessions (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT NOT NULL UNIQUE,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    -- Grows with every change of history, environment or state.
    revision   INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX sessions_by_use ON sessions (updated_at, number);

-- `owner` is the living store that runs the query; null once it has ended.
CREATE TABLE queries (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT NOT NULL UNIQUE,
    session    INTEGER NOT NULL REFERENCES sessions (number) ON DELETE CASCADE,
    prompt     TEXT,
    status     TEXT NOT NULL CHECK (status IN ('running', 'completed', 'failed', 'cancelled', 'interrupted')),
    started_at TEXT NOT NULL,
    owner      TEXT,
    CHECK ((status = 'running') = (owner IS NOT NULL))
) STRICT;

CREATE INDEX queries_of_session ON queries (session, number);
-- One query per session at a time.
CREATE UNIQUE INDEX running_queries ON queries (session) WHERE status = 'running';

CREATE TABLE messages (
    number  INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL REFERENCES sessions (number) ON DELETE CASCADE,
    role    TEXT NOT NULL CHECK (role IN ('user', 'assistant')),
    text    TEXT NOT NULL
) STRICT;

CREATE INDEX messages_of_session ON messages (session, number);

-- Places of the environment, also those without entries. `dropped` counts the entries trimmed away.
CREATE TABLE locations (
    number  INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL REFERENCES sessions (number) ON DELETE CASCADE,
    tool    TEXT NOT NULL,
    name    TEXT NOT NULL,
    dropped INTEGER NOT NULL,
    UNIQUE (session, tool, name)
) STRICT;

CREATE TABLE entries (
    number   INTEGER PRIMARY KEY AUTOINCREMENT,
    session  INTEGER NOT NULL REFERENCES sessions (number) ON DELETE CASCADE,
    tool     TEXT NOT NULL,
    name     TEXT NOT NULL,
    rank     INTEGER NOT NULL,
    metadata TEXT NOT NULL,
    objects  TEXT NOT NULL,
    FOREIGN KEY (session, tool, name) REFERENCES locations (session, tool, name) ON DELETE CASCADE
) STRICT;

CREATE INDEX entries_of_session ON entries (session, number);
-- Deleting a place looks for its entries.
CREATE INDEX entries_of_location ON entries (session, tool, name);

CREATE TABLE states (
    session INTEGER NOT NULL REFERENCES sessions (number) ON DELETE CASCADE,
    plugin  TEXT NOT NULL,
    state   TEXT NOT NULL,
    PRIMARY KEY (session, plugin)
) STRICT;

CREATE TABLE events (
    query INTEGER NOT NULL REFERENCES queries (number) ON DELETE CASCADE,
    seq   INTEGER NOT NULL,
    body  TEXT NOT NULL,
    PRIMARY KEY (query, seq)
) STRICT;
