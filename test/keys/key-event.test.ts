/** What the audit record of a key's change says. */
import { expect, test } from "vitest";
import { KeySettings } from "../../src/api/index.js";
import { keyEvent } from "../../src/keys/key-event.js";
import type { KeyRow } from "../../src/store/store.js";
import { TEST_ACT } from "../support/acts.js";
import { settingsOf, START_MS } from "./key-world.js";

const row = (some: Partial<KeyRow>, settings: Partial<KeySettings> = {}): KeyRow => ({
  id: "key_1",
  accountId: "acme",
  settings: KeySettings.encode(settingsOf(settings)).finish(),
  digest: new Uint8Array(32),
  previousDigest: null,
  previousUntilMs: null,
  hint: "sk-tg12...34",
  makerId: null,
  createTimeMs: START_MS,
  revokeTimeMs: null,
  revision: 1,
  ...some,
});

test("it names what the key is, and of a change what is another", () => {
  const made = JSON.stringify(keyEvent(TEST_ACT, undefined, row({}, { name: "nightly" })));
  for (const part of ["keys/key_1", "acme", "nightly", "sk-tg12...34"]) expect(made).toContain(part);
  const revoked = JSON.stringify(keyEvent(TEST_ACT, row({}), row({ revokeTimeMs: START_MS })));
  expect(revoked).toContain(new Date(START_MS).toISOString());
  expect(revoked).not.toContain("sk-tg12...34");
  const rotated = JSON.stringify(keyEvent(TEST_ACT, row({}), row({ hint: "sk-tg56...78", previousUntilMs: START_MS })));
  for (const part of ["sk-tg12...34", "sk-tg56...78", new Date(START_MS).toISOString()])
    expect(rotated).toContain(part);
});
