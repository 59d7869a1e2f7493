-- The vectors of the parts, by the embedding model that made them. Each is 32-bit floats, little endian, of length 1.
CREATE TABLE vectors (
    chunk INTEGER NOT NULL REFERENCES chunks (id) ON DELETE CASCADE,
    model TEXT NOT NULL,
    vector BLOB NOT NULL,
    UNIQUE (chunk, model)
) STRICT;
