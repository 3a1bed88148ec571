/** Alerts of a settings file: what they mean, and the line and column of each that is none. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ConfigError } from "../../src/config/config-error.js";
import { alertsOf } from "../../src/serve/file-alerts.js";
import { checkSettingsFile } from "../../src/serve/settings-check.js";
import { kindOf, KINDS } from "../../src/alerts/kinds.js";

function written(text: string): string {
  const directory = mkdtempSync(join(tmpdir(), "tollgate-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, "tollgate.yaml");
  writeFileSync(path, text);
  return path;
}

async function problemsOf(alerts: string): Promise<readonly string[]> {
  try {
    await checkSettingsFile(written(`alerts:\n${alerts}`), {}, "f");
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

test("an alert of the file is one as over the API, with its name in its id", async () => {
  const said = `alerts:
  low:
    { kind: balance_low, account: acme, amount: "5.00", for_minutes: 3, webhooks: [wh_1], emails: ["\${WHO}"] }
  slow: { kind: first_token_slow, threshold_ms: 2000, watched_account: acme, model: "gpt-*", paused: true }
`;
  const { settings } = await checkSettingsFile(written(said), { WHO: "ops@example.com" }, "f");
  expect(alertsOf(settings)).toMatchObject([
    {
      id: "file:low",
      accountId: "acme",
      settings: {
        name: "low",
        amountNanos: 5_000_000_000n,
        forMinutes: 3,
        webhookIds: ["wh_1"],
        emails: ["ops@example.com"],
        paused: false,
      },
      createTimeMs: undefined,
    },
    { id: "file:slow", accountId: "", settings: { thresholdMs: 2_000n, watchedAccountId: "acme", model: "gpt-*" } },
  ]);
});

test("each kind can stand in the file, with what it needs alone", async () => {
  const needs = { amountNanos: "amount: 1", percent: "percent: 100", days: "days: 3", thresholdMs: "threshold_ms: 5" };
  for (const kind of Object.keys(KINDS).map(Number)) {
    const { word = "", needs: need, percent } = kindOf(kind) ?? {};
    const least = percent === undefined ? "" : `, percent: ${percent[0]}`;
    const own = need === undefined ? "" : `, ${need === "percent" && least !== "" ? least.slice(2) : needs[need]}`;
    expect(await problemsOf(`  a: { kind: ${word}${own} }\n`), word).toEqual([]);
    if (need !== undefined) expect((await problemsOf(`  a: { kind: ${word} }\n`))[0]).toContain("is missing");
  }
});

test.each([
  {
    name: "no kind",
    alerts: "  a: { days: 3 }\n",
    want: /^f:2:3 alerts\.a\.kind: is missing: must be one of balance_low/,
  },
  {
    name: "an unknown kind",
    alerts: "  a:\n    kind: balance\n",
    want: /^f:3:11 alerts\.a\.kind: must be one of balance_low, /,
  },
  {
    name: "an unknown setting",
    alerts: "  a: { kind: reload_refused, percnt: 3 }\n",
    want: /^f:2:30 alerts\.a\.percnt: is not known here; did you mean "percent"\?/,
  },
  {
    name: "a share beyond its kind",
    alerts: "  a: { kind: budget_share, percent: 200 }\n",
    want: /^f:2:37 alerts\.a\.percent: must be from 1 to 100/,
  },
  {
    name: "an operators' kind for an account",
    alerts: "  a: { kind: overage, account: acme, amount: 1 }\n",
    want: /^f:2:14 alerts\.a\.kind: is for operators only/,
  },
  {
    name: "an account that watches another",
    alerts: "  a: { kind: key_unused, days: 1, account: acme, watched_account: other }\n",
    want: /^f:2:67 alerts\.a\.watched_account: must be the alert's own account/,
  },
  {
    name: "what is no mail address",
    alerts: '  a: { kind: reload_refused, emails: ["a\\nb@example.com"] }\n',
    want: /^f:2:39 alerts\.a\.emails\[0\]: must be text of/,
  },
  {
    name: "a wrong name",
    alerts: "  A b: { kind: reload_refused }\n",
    want: /^f:2:3 alerts\["A b"\]: must be named by 1 to 64/,
  },
  { name: "a list", alerts: "  - kind: reload_refused\n", want: /^f:2:3 alerts: must be a block of named entries/ },
])("$name is refused at its line and column", async ({ alerts, want }) => {
  const [first, ...more] = await problemsOf(alerts);
  expect(first).toMatch(want);
  expect(more).toEqual([]);
});
