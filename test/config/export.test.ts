/** What was made over the API, written as a settings file, is read as the same. */
import { fc } from "../support/seeds.js";
import { expect, test } from "vitest";
import { AlertKind, AlertSettings } from "../../src/api/index.js";
import { type Exported, exportSettings, secretVariable } from "../../src/config/export.js";
import { parseSettings } from "../support/parse-settings.js";
import { emptySettings } from "../../src/keys/key-settings.js";

const amount = fc.bigInt(0n, 10_000_000_000_000n);
const limit = fc.bigInt(0n, 1_000_000_000n);
/** A block of a file has no order. */
const inOrder = <Limits extends { readonly modelLimits: readonly { readonly model: string }[] }>(limits: Limits) =>
  Object.assign({}, limits, {
    modelLimits: limits.modelLimits.toSorted((one, other) => (one.model < other.model ? -1 : 1)),
  });
/** Names that YAML or our reader could take for something else are among them. */
const name = fc.oneof(
  fc.constantFrom(
    "null",
    "~",
    "true",
    "12",
    "0x1f",
    "${HOME}",
    "$${x}",
    "a: b",
    "- c",
    "# d",
    "<<",
    "'",
    '"',
    "*a",
    "!t",
  ),
  // The one name that neither the API nor the file takes, and to which fast-check likes to shrink.
  fc.stringMatching(/^[ -~]{1,40}$/).filter((text) => text !== "__proto__"),
);
const counts = fc.record({ requestsPerMinute: limit, tokensPerMinute: limit, concurrency: limit });
const money = fc.record({
  budgetDayNanos: amount,
  budgetWeekNanos: amount,
  budgetMonthNanos: amount,
  budgetQuarterNanos: amount,
  budgetTotalNanos: amount,
  requestCostMaxNanos: amount,
});
const account = fc.record({
  name,
  budgets: money,
  limits: fc
    .tuple(counts, fc.uniqueArray(fc.tuple(name, counts), { maxLength: 2, selector: ([model]) => model }))
    .map(([own, models]) =>
      Object.assign(own, { modelLimits: models.map(([model, rest]) => Object.assign({ model }, rest)) }),
    ),
});
const key = fc
  .tuple(
    name,
    counts,
    money,
    fc.boolean(),
    fc.option(fc.boolean(), { nil: undefined }),
    name,
    fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }),
  )
  .map(([text, own, budgets, flag, ends, label, expireTime]) =>
    Object.assign(emptySettings(), own, budgets, {
      name: text,
      scopes: ["chat", "usage"],
      models: [text],
      addresses: ["10.0.0.0/8"],
      expireTime,
      strict: flag,
      endStreamsOnRevoke: ends === false ? false : undefined,
      metadata: { [label]: text },
    }),
  );

test("accounts, keys and alerts come back from the file as they were", () => {
  fc.assert(
    fc.property(
      fc.array(account, { maxLength: 3 }),
      fc.array(key, { maxLength: 3 }),
      amount,
      (accounts, keys, nanos) => {
        const made: Exported = {
          accounts: accounts.map((one, at) => Object.assign({ id: `a${at}` }, one)),
          keys:
            accounts.length === 0 ? [] : keys.map((settings, at) => ({ id: `key_${at}`, accountId: "a0", settings })),
          alerts: [1, 2].map(() => ({
            accountId: "",
            settings: {
              ...AlertSettings.decode(new Uint8Array()),
              kind: AlertKind.ALERT_KIND_BALANCE_LOW,
              amountNanos: nanos,
              name: "Money ends!",
            },
          })),
        };
        const env = Object.fromEntries(made.keys.map(({ id }) => [secretVariable(id), `sk-${id}-0123456789abcdef`]));
        const read = parseSettings(exportSettings(made), env);
        const known = read.accounts.map(({ creditNanos: given, limits, ...rest }) =>
          Object.assign(rest, { given, limits: inOrder(limits) }),
        );
        expect(known).toEqual(
          made.accounts.map((one) => Object.assign({}, one, { given: 0n, plan: "", limits: inOrder(one.limits) })),
        );
        expect(read.keys.map(({ settings }) => settings)).toEqual(
          made.keys.map(({ settings }) =>
            Object.assign({}, settings, { endStreamsOnRevoke: settings?.endStreamsOnRevoke !== false }),
          ),
        );
        expect(read.alerts.map(({ name: called, settings }) => [called, settings.amountNanos])).toEqual([
          ["money-ends", nanos],
          ["money-ends-2", nanos],
        ]);
      },
    ),
    { numRuns: 200 },
  );
});

test("nothing is an empty file with its head", () => {
  expect(exportSettings({ accounts: [], keys: [], alerts: [] })).toMatch(/^# What was made over the API[^]*\{\}\n$/);
});
