-- The tickets whose runner was killed, or whose slice was over, after their agent had moved them to verification.
CREATE INDEX ticket_to_finish ON ticket (updated_at) WHERE state = 'VERIFICATION' AND runner IS NOT NULL;
