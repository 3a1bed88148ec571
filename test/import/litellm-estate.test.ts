/** What becomes of each row of a LiteLLM proxy's database. */
import { describe, expect, test } from "vitest";
import { estateOf } from "../../src/import/litellm-estate.js";
import type { KeyTokenRow, LiteLlmRows } from "../../src/import/litellm-rows.js";

const NOW_MS = Date.UTC(2026, 11, 1);
const TOKEN = "ab".repeat(32);
const NO_ROWS: LiteLlmRows = {
  keys: [],
  teams: [],
  users: [],
  deprecated: [],
  models: [],
  credentials: [],
  budgets: [],
};

const keyRow = (part: Partial<KeyTokenRow> & Record<string, unknown> = {}): KeyTokenRow => ({
  token: TOKEN,
  key_name: "sk-...cdef",
  key_alias: "ci",
  spend: 0,
  models: [],
  ...part,
});
const plan = (rows: Partial<LiteLlmRows>) => estateOf({ ...NO_ROWS, ...rows }, NOW_MS);
const budgetOf = (part: Partial<KeyTokenRow>) => plan({ keys: [keyRow(part)] }).keys[0]?.limits.budget;

test("a team becomes an account, its keys are the account's, and its limits stand", () => {
  const team = {
    team_id: "team-7",
    team_alias: "Search",
    max_budget: 100,
    budget_duration: "30d",
    rpm_limit: "60",
    spend: 0,
  };
  const { accounts, keys, differences } = plan({
    teams: [team],
    keys: [keyRow({ team_id: "team-7", tpm_limit: "9000" })],
  });
  expect(accounts).toEqual([
    {
      id: "team-7",
      name: "Search",
      isBlocked: false,
      limits: {
        requestsPerMinute: 60n,
        tokensPerMinute: 0n,
        concurrency: 0n,
        budget: { window: "month", nanos: 100_000_000_000n },
      },
    },
  ]);
  expect(keys[0]).toMatchObject({ accountId: "team-7", name: "ci", sha256: TOKEN, hint: "sk-...cdef" });
  expect(keys[0]?.limits.tokensPerMinute).toBe(9_000n);
  expect(differences).toEqual([]);
});

test("a key without a team is its person's, and one of nobody is in an account of its own", () => {
  const { accounts, keys } = plan({
    users: [{ user_id: "Ann@Example.com", user_alias: "Ann" }],
    keys: [keyRow({ user_id: "Ann@Example.com" }), keyRow({ token: "cd".repeat(32), user_id: null })],
  });
  expect(keys.map(({ accountId }) => accountId)).toEqual([
    expect.stringMatching(/^user-ann-example\.com-[0-9a-f]{8}$/),
    "litellm",
  ]);
  expect(accounts.map(({ name }) => name)).toEqual(["Ann", "Keys without a team"]);
});

describe("a budget", () => {
  test.each([
    ["1d", "day"],
    ["24h", "day"],
    ["7d", "week"],
    ["1w", "week"],
    ["30d", "month"],
    ["1mo", "month"],
    ["90d", "quarter"],
  ])("per %s is one per %s", (duration, window) => {
    expect(budgetOf({ max_budget: 12.34, budget_duration: duration })).toEqual({ window, nanos: 12_340_000_000n });
  });

  test.each([
    ["1h", "day"],
    ["2d", "week"],
    ["14d", "month"],
    ["60d", "quarter"],
  ])("per %s is the tighter one per %s, which is said", (duration, window) => {
    const { keys, differences } = plan({ keys: [keyRow({ max_budget: 5, budget_duration: duration })] });
    expect(keys[0]?.limits.budget?.window).toBe(window);
    expect(differences).toEqual([
      { what: "key ci", reason: `its budget per ${duration} is one per ${window}, which is tighter` },
    ]);
  });

  test("for good is what is left of it, its spend rounded up once", () => {
    expect(budgetOf({ max_budget: 10, spend: 0.1 + 0.2 })).toEqual({ window: "total", nanos: 9_700_000_000n });
    expect(budgetOf({ max_budget: 10, spend: 3.3333333333 })).toEqual({ window: "total", nanos: 6_666_666_666n });
  });

  test("that is used up pays for nothing, since 0 would be no budget", () => {
    expect(budgetOf({ max_budget: 10, spend: 11 })).toEqual({ window: "total", nanos: 1n });
    expect(budgetOf({ max_budget: 0 })).toEqual({ window: "total", nanos: 1n });
  });

  test("is taken from the table of budgets where the key names one", () => {
    const budgets = [{ budget_id: "b-1", max_budget: 2, budget_duration: "1d", rpm_limit: 5 }];
    const { keys } = plan({ budgets, keys: [keyRow({ budget_id: "b-1" })] });
    expect(keys[0]?.limits).toMatchObject({ requestsPerMinute: 5n, budget: { window: "day", nanos: 2_000_000_000n } });
  });
});

describe("models", () => {
  const team = { team_id: "t", models: ["gpt-5", "claude-*"] };
  test.each([
    [[], ["gpt-5", "claude-*"]],
    [["all-team-models"], ["gpt-5", "claude-*"]],
    [["gpt-5"], ["gpt-5"]],
    [["all-proxy-models"], []],
    [["no-default-models"], ["none-is-allowed"]],
  ])("%j of a key in a team are %j", (models, want) => {
    expect(plan({ teams: [team], keys: [keyRow({ team_id: "t", models })] }).keys[0]?.models).toEqual(want);
  });
});

test.each([
  [{ blocked: true }, "it is blocked"],
  [{ expires: new Date(NOW_MS - 1) }, "it has expired"],
  [{ token: "sk-plain" }, "its secret is not stored as a digest"],
])("the key with %j is left, and why is said", (part, reason) => {
  const { keys, left } = plan({ keys: [keyRow(part)] });
  expect(keys).toEqual([]);
  expect(left).toContainEqual({ what: "key ci", reason: expect.stringContaining(reason) });
});

test("a secret before a rotation is a key until it ends", () => {
  const end = new Date(NOW_MS + 1_000);
  const deprecated = [{ token: "ef".repeat(32), active_token_id: TOKEN, revoke_at: end }];
  const { keys } = plan({ keys: [keyRow()], deprecated });
  expect(keys.map(({ sha256, expireTime }) => ({ sha256, expireTime }))).toEqual([
    { sha256: TOKEN, expireTime: undefined },
    { sha256: "ef".repeat(32), expireTime: end },
  ]);
});

test("what a column says and has no place is said once for each key", () => {
  const { differences } = plan({
    keys: [
      keyRow({
        aliases: { fast: "gpt-5" },
        allowed_routes: ["/chat"],
        permissions: {},
        metadata: { tags: ["a", "b"], guardrails: ["pii"] },
      }),
    ],
  });
  expect(differences.map(({ reason }) => reason)).toEqual([
    "its own names of models have no place: set aliases of the gateway",
    "its list of routes has no place: set scopes of the key",
    "its metadata guardrails has no place",
  ]);
});

test("two teams or people have two accounts, however alike their ids are", () => {
  const ids = ["Sales", "sales", "営業", "開発", "user-x", "litellm", "a".repeat(80), "a".repeat(81)];
  const users = ["x", "a+b@x.de", "a-b@x.de"].map((id) => ({ user_id: id }));
  const keys = users.map(({ user_id: id }, place) => keyRow({ token: `${place}f`.repeat(32), user_id: id }));
  const { accounts } = plan({ teams: ids.map((id) => ({ team_id: id })), users, keys: [...keys, keyRow()] });
  expect(new Set(accounts.map(({ id }) => id)).size).toBe(ids.length + users.length + 1);
  for (const { id } of accounts) expect(id).toMatch(/^[a-z0-9_.-]{1,64}$/);
});

test("a key without a list and a team has the list of its person", () => {
  const users = [{ user_id: "ann", models: ["gpt-5"] }];
  expect(plan({ users, keys: [keyRow({ user_id: "ann" })] }).keys[0]?.models).toEqual(["gpt-5"]);
});
