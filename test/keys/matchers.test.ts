/** What a key may use: globs over models, blocks of addresses, scopes. */
import { fc } from "../support/seeds.js";
import { describe, expect, test } from "vitest";
import { KeySettings } from "../../src/api/index.js";
import { AddressSet, isAddressBlock } from "../../src/keys/address-range.js";
import { GlobSet } from "../../src/keys/glob.js";
import { callerOf } from "../../src/keys/key-caller.js";
import { settingsOf } from "./key-world.js";

describe("globs", () => {
  test.each([
    { glob: "gpt-5", yes: ["gpt-5"], no: ["gpt-5x", "xgpt-5", "GPT-5", "", "gpt"] },
    { glob: "gpt-*", yes: ["gpt-", "gpt-5", "gpt-*"], no: ["gpt", "my-gpt-5"] },
    { glob: "*", yes: ["", "anything", "a/b:c"], no: [] },
    { glob: "*-mini", yes: ["-mini", "gpt-5-mini"], no: ["mini", "gpt-mini-5"] },
    { glob: "a*a", yes: ["aa", "aba"], no: ["a", "ab"] },
    { glob: "ab*ba", yes: ["abba", "ab-ba"], no: ["aba"] },
    { glob: "*a*b*", yes: ["ab", "xaxbx"], no: ["ba", "a", "b"] },
    { glob: "a**b", yes: ["ab", "axxb"], no: ["a", "b"] },
    { glob: "x*ab*ab", yes: ["xabab", "xab-ab"], no: ["xab"] },
    { glob: "gpt-?.[45]", yes: ["gpt-?.[45]"], no: ["gpt-5.4", "gpt-x.4"] },
    { glob: "a.c", yes: ["a.c"], no: ["abc"] },
  ])("$glob", ({ glob, yes, no }) => {
    const globs = new GlobSet([glob]);
    for (const name of yes) expect([name, globs.matches(name)]).toEqual([name, true]);
    for (const name of no) expect([name, globs.matches(name)]).toEqual([name, false]);
  });

  test("of any case match every spelling", () => {
    const globs = new GlobSet(["Org/Llama-*"], true);
    expect(["org/llama-3", "ORG/LLAMA-3"].map((name) => globs.matches(name))).toEqual([true, true]);
    expect(globs.matches("org/other")).toBe(false);
  });

  test("answer as the plain definition does", () => {
    const word = fc.string({ unit: fc.constantFrom("a", "b", "*"), maxLength: 10 });
    const name = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 12 });
    fc.assert(
      fc.property(word, name, (glob, text) => {
        expect(new GlobSet([glob]).matches(text)).toBe(plainMatch(glob, text));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("addresses", () => {
  test.each([
    { blocks: ["10.0.0.0/8"], yes: ["10.1.2.3", "::ffff:10.1.2.3", "::ffff:0a01:0203"], no: ["11.0.0.1", "::1", ""] },
    { blocks: ["10.0.0.7/8"], yes: ["10.255.0.1"], no: ["9.255.255.255"] },
    { blocks: ["192.0.2.7"], yes: ["192.0.2.7"], no: ["192.0.2.8"] },
    { blocks: ["192.0.2.128/25"], yes: ["192.0.2.128", "192.0.2.255"], no: ["192.0.2.127"] },
    { blocks: ["2001:db8::/33"], yes: ["2001:db8:7fff::1", "2001:DB8::1"], no: ["2001:db8:8000::1", "10.0.0.1"] },
    { blocks: ["::ffff:10.0.0.0/104"], yes: ["10.9.9.9", "::ffff:10.9.9.9"], no: ["11.0.0.1"] },
    { blocks: ["::/0"], yes: ["::1", "2001:db8::1"], no: ["10.0.0.1", "::ffff:10.0.0.1"] },
    { blocks: ["0.0.0.0/0"], yes: ["10.0.0.1", "::ffff:10.0.0.1"], no: ["::1"] },
    { blocks: ["fe80::/10"], yes: ["fe80::1%eth0"], no: ["fec0::1"] },
    { blocks: ["127.0.0.1", "::1"], yes: ["127.0.0.1", "::1", "0:0:0:0:0:0:0:1"], no: ["127.0.0.2"] },
    { blocks: ["10.0.0.0/8"], yes: [], no: ["10.0.0.1:80", "10.0.0.1/8", "localhost", "010.0.0.1", "10.1", "unknown"] },
  ])("$blocks", ({ blocks, yes, no }) => {
    const addresses = new AddressSet(blocks);
    for (const address of yes) expect([address, addresses.has(address)]).toEqual([address, true]);
    for (const address of no) expect([address, addresses.has(address)]).toEqual([address, false]);
  });

  test.each([
    "10.0.0.0/33",
    "10.0.0.0/",
    "10.0.0.0/-1",
    "10.0.0.0/08",
    "::/129",
    "10.0.0/8",
    "a/8",
    "",
    "fe80::1%eth0",
    "1.2.3.4/8/8",
  ])("%s is no block", (text) => {
    expect(isAddressBlock(text)).toBe(false);
  });
});

describe("a caller", () => {
  const caller = (some: Partial<KeySettings>) =>
    callerOf({
      id: "key_1",
      accountId: "acme",
      settings: KeySettings.encode(settingsOf(some)).finish(),
      digest: new Uint8Array(32),
      previousDigest: null,
      previousUntilMs: null,
      hint: "sk-tg12...34",
      createTimeMs: 1,
      revokeTimeMs: null,
      makerId: null,
      revision: 1,
    });

  test.each([
    { name: "no lists allow all", settings: {}, model: "any", want: true },
    { name: "an allowed model", settings: { models: ["gpt-*"] }, model: "gpt-5", want: true },
    { name: "a model outside the list", settings: { models: ["gpt-*"] }, model: "claude", want: false },
    { name: "denied", settings: { modelsDenied: ["*-pro"] }, model: "gpt-5-pro", want: false },
    {
      name: "denied wins over allowed",
      settings: { models: ["*"], modelsDenied: ["gpt-*"] },
      model: "gpt-5",
      want: false,
    },
    { name: "a name too long for any glob", settings: { modelsDenied: ["x*"] }, model: "x".repeat(513), want: false },
  ])("by model: $name", ({ settings, model, want }) => {
    expect(caller(settings).mayUseModel(model)).toBe(want);
  });

  test("may come from everywhere without addresses, and else only from them", () => {
    expect(caller({}).mayComeFrom("203.0.113.9")).toBe(true);
    expect(caller({}).mayComeFrom("")).toBe(true);
    expect(caller({ addresses: ["10.0.0.0/8"] }).mayComeFrom("203.0.113.9")).toBe(false);
    expect(caller({ addresses: ["10.0.0.0/8"] }).mayComeFrom("")).toBe(false);
  });

  test("has its scopes, and as an operator all of them", () => {
    expect(["chat", "keys", "operator"].map((scope) => caller({ scopes: ["chat"] }).hasScope(scope))).toEqual([
      true,
      false,
      false,
    ]);
    expect(["chat", "keys", "operator"].map((scope) => caller({ scopes: ["operator"] }).hasScope(scope))).toEqual([
      true,
      true,
      true,
    ]);
    expect(caller({ scopes: [] }).hasScope("")).toBe(false);
  });
});

/** The definition of a glob, by trying everything. */
function plainMatch(glob: string, text: string): boolean {
  if (glob === "") return text === "";
  if (glob[0] !== "*") return text[0] === glob[0] && plainMatch(glob.slice(1), text.slice(1));
  for (let skip = 0; skip <= text.length; skip++) if (plainMatch(glob.slice(1), text.slice(skip))) return true;
  return false;
}
