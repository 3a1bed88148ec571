/** Each event of the audit log is a sentence that a reader understands at once. */
import { expect, test } from "vitest";
import { ACTS } from "../../console/audit/acts.js";
import { changesOf, sentenceOf, type AuditedCall } from "../../console/audit/sentence.js";
import { methods } from "../../src/api/descriptors.js";
import { isChange } from "../../src/rpc/call/call-log.js";
import { methodName } from "../../src/rpc/call/call-audit.js";

const MIA = { id: "user_1", name: "Mia", kind: "user" } as const;
const NAMES = new Map([["key_1", "ci"]]);

function told(method: string, more: Partial<AuditedCall> = {}): string {
  const event = {
    method,
    resource: "keys/key_1",
    result: "done",
    reason: "",
    before: "",
    after: "",
    actor: MIA,
  } as const;
  return sentenceOf({ ...event, ...more }, NAMES);
}

test.each<{ name: string; event: Partial<AuditedCall>; want: string }>([
  {
    name: "one amount",
    event: { before: '{"budget_day_nanos":"5000000000"}', after: '{"budget_day_nanos":"20000000000"}' },
    want: "Mia raised the daily budget of the key ci from $5.00 to $20.00.",
  },
  {
    name: "a lower number",
    event: { before: '{"concurrency":"9"}', after: '{"concurrency":"3"}' },
    want: "Mia lowered the limit of requests at the same time of the key ci from 9 to 3.",
  },
  {
    name: "a new value",
    event: { before: "{}", after: '{"concurrency":"3"}' },
    want: "Mia set the limit of requests at the same time of the key ci to 3.",
  },
  {
    name: "a value that is gone",
    event: { before: '{"concurrency":"3"}', after: "{}" },
    want: "Mia removed the limit of requests at the same time of the key ci, which was 3.",
  },
  {
    name: "several fields",
    event: { before: '{"a":"1","b":"x"}', after: '{"a":"2","b":"y"}' },
    want: "Mia changed the key ci: a from 1 to 2; b from x to y.",
  },
  {
    name: "a refusal",
    event: { result: "refused", reason: "KEY_TOO_WIDE" },
    want: "Mia tried to change the key ci, but was refused: KEY_TOO_WIDE.",
  },
  { name: "no change", event: { result: "unchanged" }, want: "Mia changed the key ci. Nothing changed." },
])("a change of $name", ({ event, want }) => {
  expect(told("KeyService.UpdateKey", event)).toBe(want);
});

test("a method that the console does not know yet has a general sentence", () => {
  expect(told("NewService.MakeThing")).toBe("Mia called NewService.MakeThing on ci.");
});

test("nested values differ by their own paths, and what is the same is left out", () => {
  const before = '{"limits":{"concurrency":"1","tokens_per_minute":"5"}}';
  const after = '{"limits":{"concurrency":"2","tokens_per_minute":"5"}}';
  expect(changesOf({ before, after })).toEqual([{ field: "limits concurrency", was: "1", is: "2" }]);
});

test("every audited method and action has a sentence of its own", () => {
  // They change nothing, or begin what another method ends.
  const unaudited = [
    /^SettingsService\.Check(?:Settings|Objects)$/,
    /^IdentityService\.Begin(?:OidcSignIn|Passkey(?:SignIn|Proof)?)$/,
  ];
  const audited = methods()
    .filter(isChange)
    .map(({ path }) => methodName(path))
    .filter((name) => !unaudited.some((form) => form.test(name)));
  expect(audited.filter((name) => ACTS[name] === undefined)).toEqual([]);
  for (const name of Object.keys(ACTS)) expect(told(name)).toMatch(/^Mia [a-z][^{}]*[^ ]\.$/);
});
