/**
 * The plan of an account, for both databases: a name alone, since the plan may be deleted. It is outside the row's
 * digest, because a node of an earlier program on the same database changes accounts without it.
 */
export const ACCOUNT_PLANS = `
ALTER TABLE account ADD COLUMN plan TEXT NOT NULL DEFAULT '';
CREATE INDEX account_plan ON account (plan, id) WHERE plan <> '';
`;
