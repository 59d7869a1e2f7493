-- Where the text comes from, where a stranger wrote it: what a tool answered that was piped, and what was made of such a text.
ALTER TABLE versions ADD COLUMN untrusted TEXT;
