/**
 * Which accounts and keys a settings file manages, for both databases. The columns are outside the rows' digests,
 * because a node of an earlier program on the same database changes rows without them.
 */
export const FILE_STATES = `
ALTER TABLE account ADD COLUMN file_state TEXT NOT NULL DEFAULT '';
CREATE INDEX account_file_state ON account (id) WHERE file_state <> '';
ALTER TABLE key ADD COLUMN file_state TEXT NOT NULL DEFAULT '';
CREATE INDEX key_file_state ON key (create_time_ms, id) WHERE file_state <> '';
`;
