/** What is asked of records: every filter of the list, pages deep in, and sums by many pairs of properties. */

/**
 * @typedef {object} Question
 * @property {string} name
 * @property {readonly string[]} paths Of one kind; each round asks the next.
 */

const DAY_MS = 86_400_000;
const PAIRS = [
  [],
  ["model"],
  ["key"],
  ["user"],
  ["tag"],
  ["day", "model"],
  ["hour", "model"],
  ["day", "account"],
  ["key", "model"],
  ["model", "upstream"],
  ["account", "upstream"],
  ["tag", "model"],
  ["reason", "model"],
  ["user", "upstream"],
];

/**
 * @param {(path: string) => Promise<any>} ask
 * @returns {Promise<readonly Question[]>}
 */
export async function questionsOf(ask) {
  const nowMs = Date.now();
  const since = (/** @type {number} */ days) => `start_time=${new Date(nowMs - days * DAY_MS).toISOString()}`;
  const accounts = Array.from({ length: 50 }, (_, at) => `acct-${at}`);
  const keys = Array.from({ length: 50 }, (_, at) => `key_${String(at * 3).padStart(8, "0")}`);
  const some = await ask(`/requests?page_size=20&end_time=${new Date(nowMs - 10 * DAY_MS).toISOString()}`);
  /** @type {string[]} */
  const ids = some.requests.map((/** @type {{ id: string }} */ { id }) => id);
  const tokens = await deepTokens(ask);
  const list = (/** @type {readonly string[]} */ queries) => queries.map((query) => `/requests?page_size=100&${query}`);
  return [
    { name: "list, newest", paths: list([""]) },
    { name: "list, 1,000 a page", paths: ["/requests?page_size=1000"] },
    { name: "list, deep pages", paths: list(tokens.map((token) => `page_token=${token}`)) },
    {
      name: "list by time",
      paths: list([3, 10, 20].map((days) => `end_time=${new Date(nowMs - days * DAY_MS).toISOString()}`)),
    },
    { name: "list by account", paths: list(accounts.map((id) => `account_id=${id}`)) },
    { name: "list by key", paths: list(keys.map((id) => `key_id=${id}`)) },
    { name: "list by model", paths: list(["model=model-3", "model=model-11", "model=none"]) },
    { name: "list by upstream", paths: list(["upstream=up-1", "upstream=none"]) },
    { name: "list by state", paths: list(["state=uncharged", "state=settled", "state=held", "state=voided"]) },
    { name: "list by reason", paths: list(["reason=RATE_LIMITED", "reason=UPSTREAM_FAILED"]) },
    { name: "list by status", paths: list(["http_status=502", "http_status=404", "http_status=599"]) },
    {
      name: "list by cost",
      paths: list(["min_cost_nanos=2700000", "max_cost_nanos=30000", "min_cost_nanos=999999999"]),
    },
    { name: "list by duration", paths: list(["min_total_ms=8000", "min_total_ms=60000"]) },
    { name: "list by user", paths: list(Array.from({ length: 20 }, (_, at) => `end_user=user-${at * 7}`)) },
    { name: "list by tag", paths: list(["tag=team%3Dt3", "tag=env%3Dprod", "tag=none"]) },
    { name: "list by a whole id", paths: list(ids.map((id) => `query=${id}`)) },
    { name: "list by a part of an id", paths: list(["query=client-4711", "query=s-123", "query=nowhere"]) },
    { name: "one request", paths: ids.map((id) => `/requests/${id}`) },
    { name: "accounts", paths: ["/accounts?page_size=100"] },
    { name: "keys", paths: ["/keys?page_size=100"] },
    ...[1, 30].flatMap((days) =>
      PAIRS.map((pair) => ({
        name: `usage of ${days} d by ${pair.join(", ") || "nothing"}`,
        paths: [`/usage:query?${[since(days), ...pair.map((name) => `group_by=${name}`)].join("&")}`],
      })),
    ),
    { name: "usage of 1 d by minute", paths: [`/usage:query?${since(1)}&group_by=minute`] },
    {
      name: "usage of 30 d of a key by day",
      paths: keys.map((id) => `/usage:query?${since(30)}&group_by=day&key_id=${id}`),
    },
    { name: "usage of 30 d of a user by day", paths: [`/usage:query?${since(30)}&group_by=day&end_user=user-7`] },
  ];
}

/**
 * Tokens of pages that stand far behind the first.
 * @param {(path: string) => Promise<any>} ask
 */
async function deepTokens(ask) {
  const tokens = [];
  for (let token = "", page = 0; page < 10; page++) {
    ({ next_page_token: token } = await ask(`/requests?page_size=1000&page_token=${token}`));
    tokens.push(token);
  }
  return tokens;
}
