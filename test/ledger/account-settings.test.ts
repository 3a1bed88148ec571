/** What an operator may write into an account: each setting up to its bound; one beyond it is refused by its name. */
import { describe, expect, test } from "vitest";
import { checkSettings } from "../../src/ledger/account-settings.js";
import { Accounts } from "../../src/ledger/accounts.js";
import { Corrections } from "../../src/ledger/corrections.js";
import { decide } from "../../src/ledger/state.js";
import { LedgerWriter } from "../../src/ledger/writer.js";
import { AMOUNT_NANOS_MAX } from "../../src/base/money.js";
import { TEST_ACT } from "../support/acts.js";
import { openTestStore } from "../support/open-test-store.js";
import { temporaryDirectory } from "../support/temporary-directory.js";
import { bookOf, NOON_MS } from "./operations.js";

type Settings = Parameters<typeof checkSettings>[0];

function problemOf(call: () => unknown): unknown {
  try {
    call();
    return undefined;
  } catch (error) {
    return (error as { metadata?: { param?: string } }).metadata?.param ?? error;
  }
}

const content = (given: Partial<NonNullable<Settings["content"]>>): Settings => ({
  content: { keep: true, redactions: [], bodyBytesMax: 0, totalBytesMax: 0n, ...given } as NonNullable<
    Settings["content"]
  >,
});
const limits = (...models: readonly string[]): Settings => ({
  modelLimits: models.map((model) => ({ model, requestsPerMinute: 1n, tokensPerMinute: 0n, concurrency: 0n })),
});
const numbered = (count: number): string[] => Array.from({ length: count }, (_, index) => `m${index}`);

describe("a setting of an account", () => {
  test.each<{ name: string; most: Settings; beyond: Settings; param: string }>([
    {
      name: "of a budget",
      most: { budgetDayNanos: AMOUNT_NANOS_MAX },
      beyond: { budgetDayNanos: AMOUNT_NANOS_MAX + 1n },
      param: "budget_day_nanos",
    },
    {
      name: "below zero",
      most: { requestCostMaxNanos: 0n },
      beyond: { requestCostMaxNanos: -1n },
      param: "request_cost_max_nanos",
    },
    {
      name: "of requests",
      most: { requestsPerMinute: 1_000_000_000n },
      beyond: { requestsPerMinute: 1_000_000_001n },
      param: "requests_per_minute",
    },
    { name: "of models", most: limits(...numbered(100)), beyond: limits(...numbered(101)), param: "model_limits" },
    { name: "of a model's name", most: limits("m"), beyond: limits(""), param: "model_limits[0].model" },
    {
      name: "of a model's length",
      most: limits("m".repeat(256)),
      beyond: limits("m".repeat(257)),
      param: "model_limits[0].model",
    },
    { name: "of one model", most: limits("a", "b"), beyond: limits("a", "a"), param: "model_limits[1].model" },
    {
      name: "of a body that is kept",
      most: content({ bodyBytesMax: 1_048_576 }),
      beyond: content({ bodyBytesMax: 1_048_577 }),
      param: "content.body_bytes_max",
    },
    {
      name: "of all bodies",
      most: content({ totalBytesMax: 17_179_869_184n }),
      beyond: content({ totalBytesMax: 17_179_869_185n }),
      param: "content.total_bytes_max",
    },
    {
      name: "of redactions",
      most: content({ redactions: numbered(50).map((word) => `word ${word}`) }),
      beyond: content({ redactions: numbered(51).map((word) => `word ${word}`) }),
      param: "content.redactions",
    },
    {
      name: "of a redaction's least length",
      most: content({ redactions: ["abc"] }),
      beyond: content({ redactions: ["abc", "ab"] }),
      param: "content.redactions[1]",
    },
    {
      name: "of a redaction's length",
      most: content({ redactions: ["a".repeat(128)] }),
      beyond: content({ redactions: ["a".repeat(129)] }),
      param: "content.redactions[0]",
    },
    {
      name: "of a redaction's stars",
      most: content({ redactions: ["a*b*c"] }),
      beyond: content({ redactions: ["a*b*c*"] }),
      param: "content.redactions[0]",
    },
    {
      name: "of stars side by side",
      most: content({ redactions: ["*ab*"] }),
      beyond: content({ redactions: ["ab**"] }),
      param: "content.redactions[0]",
    },
  ])("$name is taken up to its bound", ({ most, beyond, param }) => {
    expect(problemOf(() => checkSettings(most))).toBeUndefined();
    expect(problemOf(() => checkSettings(beyond))).toBe(`settings.${param}`);
  });
});

test("an account is opened under an id and a name within their bounds, once", async () => {
  const store = await openTestStore(temporaryDirectory());
  const accounts = new Accounts(store, () => NOON_MS);
  const open = (id: string, name: string): Promise<unknown> =>
    accounts.create({ id, name }, TEST_ACT).then(
      (row) => row.name,
      (error: unknown) => (error as { metadata: Record<string, string> }).metadata["param"] ?? String(error),
    );
  expect(await open("a".repeat(64), "n".repeat(200))).toBe("n".repeat(200));
  expect(await open("a".repeat(65), "n")).toBe("id");
  expect(await open("A", "n")).toBe("id");
  expect(await open("b", "n".repeat(201))).toBe("name");
  expect(await open("a".repeat(64), "n")).toContain("exist");
  await store.close();
});

test("a credit that the ledger has no room for is refused as an amount", async () => {
  const book = bookOf(["acme"]);
  const writer = new LedgerWriter(async (operations) => operations.map((operation) => decide(book, operation)));
  const corrections = new Corrections(writer, { untilBack: (submit) => submit() }, () => NOON_MS);
  const credit = (id: number): Promise<string> => {
    const asked = { creditId: `c${id}`, accountId: "acme", amountNanos: AMOUNT_NANOS_MAX, act: TEST_ACT };
    return corrections.credit(asked).then(
      () => "credited",
      (error: unknown) => (error as { metadata: Record<string, string> }).metadata["param"] ?? String(error),
    );
  };
  const outcomes: string[] = [];
  for (let id = 0; outcomes.at(-1) !== "amount_nanos" && id < 10; id += 1) outcomes.push(await credit(id));
  expect(outcomes.slice(0, -1).every((outcome) => outcome === "credited")).toBe(true);
  expect(outcomes.at(-1)).toBe("amount_nanos");
});
