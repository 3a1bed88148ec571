/**
 * What the operator spends at upstreams and targets that have a budget, by UTC day or month, for both databases. It is
 * no account's money: nothing proves it, and an old program leaves it alone.
 */
export const OPERATOR_COSTS = `
CREATE TABLE operator_cost (
  subject TEXT NOT NULL,
  bucket TEXT NOT NULL,
  cost_nanos INTEGER NOT NULL,
  PRIMARY KEY (subject, bucket)
) STRICT, WITHOUT ROWID;
`;
