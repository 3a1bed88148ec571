/**
 * What the credit line of an account granted last, for both databases. The columns are outside the row's digest, as
 * its sums are: the transfers prove them.
 */
export const CREDIT_LINES = `
ALTER TABLE account ADD COLUMN line_start_day TEXT NOT NULL DEFAULT '';
ALTER TABLE account ADD COLUMN line_amount_nanos INTEGER NOT NULL DEFAULT 0;
ALTER TABLE account ADD COLUMN line_spent_nanos INTEGER NOT NULL DEFAULT 0;
ALTER TABLE account ADD COLUMN line_used_up_nanos INTEGER NOT NULL DEFAULT 0;
CREATE INDEX account_line ON account (id) WHERE line_start_day <> '';
`;
