/** What edits make of a set of objects, and what is wrong with one. */
import { expect, test } from "vitest";
import { type Block, idOf } from "../../src/settings/object.js";
import { checkSet, edited, type ObjectEdit } from "../../src/settings/object-set.js";
import { AROUND, edit, entryIn, model, setOf, upstream } from "./fixtures.js";

const BASE = setOf(upstream("vendor"), model("fast", "vendor"));
const problemsOf = (...edits: readonly ObjectEdit[]): readonly string[] => {
  const { set, problems } = edited(BASE, edits, 1);
  return [...problems, ...checkSet(set.entries.values(), AROUND).problems].map(
    ({ kind, name, field, problem }) => `${kind} ${name} ${field}: ${problem}`,
  );
};

test("a valid set has no problem, and an edit that says the same changes nothing", () => {
  expect(checkSet(BASE.entries.values(), AROUND).problems).toEqual([]);
  const { set } = edited(BASE, [model("fast", "vendor")], 5);
  expect(entryIn(set, "model", "fast")).toBe(entryIn(BASE, "model", "fast"));
});

test("a secret stays where its address stays, and is asked for where it does not", () => {
  const quiet = edited(BASE, [edit("upstream", "vendor", { family: "openai", unknown_members: "refuse" })], 1);
  expect(quiet.problems).toEqual([]);
  expect(entryIn(quiet.set, "upstream", "vendor")?.secrets).toEqual({ api_key: "sk-of-a-test" });
  expect(problemsOf(edit("upstream", "vendor", { family: "openai", base_url: "http://elsewhere/v1" }))[0]).toContain(
    "upstream vendor api_key: must be given again",
  );
  expect(problemsOf(edit("upstream", "vendor", { family: "mistral" }))[0]).toContain("must be given again");
});

test("a reference is kept by the same rule, and only one that the start allows is taken", () => {
  expect(problemsOf(upstream("vendor", { api_key: "env:ALLOWED_KEY" }))).toEqual([]);
  expect(problemsOf(upstream("vendor", { api_key: "env:OTHER" }))[0]).toContain("TOLLGATE_SECRET_SOURCES");
  expect(problemsOf(upstream("vendor", { api_key: "env:TOLLGATE_SECRET" }))[0]).toContain("the gateway's own");
  expect(problemsOf(upstream("vendor", { api_key: "file:relative" }))[0]).toContain("absolute path");
  expect(problemsOf(upstream("vendor", { api_key: "file:/run/../etc/passwd" }))[0]).toContain("absolute path");
  const referred = setOf(upstream("vendor", { api_key: "env:ALLOWED_KEY" }));
  const moved = edited(referred, [edit("upstream", "vendor", { family: "openai", base_url: "http://elsewhere" })], 1);
  expect(moved.problems[0]?.problem).toContain("must be given again");
});

test("only a file may let the gateway's machine speak for itself, or name a file of a key", () => {
  expect(problemsOf(edit("upstream", "cloud", { family: "bedrock" }))[0]).toContain(
    "identity of the gateway's machine",
  );
  expect(problemsOf(edit("upstream", "cloud", { family: "vertex", api_key: "/etc/key.json" }))[0]).toContain(
    "the key itself",
  );
});

test("an upstream that a model names is not deleted, and both together are", () => {
  expect(problemsOf(edit("upstream", "vendor", undefined))[0]).toBe(
    "upstream vendor : is named by the model fast: change or delete it first",
  );
  expect(problemsOf(edit("upstream", "vendor", undefined), edit("model", "fast", undefined))).toEqual([]);
});

const alias = (name: string, named: string): ObjectEdit => edit("alias", name, { model: named });

test("an alias names a model of the set or of this node's file, and no alias", () => {
  expect(problemsOf(alias("quick", "fast"))).toEqual([]);
  expect(problemsOf(alias("quick", "fest"))).toEqual([
    'alias quick model: must name one of the models; "fest" is none; did you mean "fast"?',
  ]);
  expect(problemsOf(alias("quick", "fast"), alias("quicker", "quick"))[0]).toContain('"quick" is an alias');
  expect(problemsOf(alias("fast", "fast"))).toEqual([
    "alias fast : has the name of a model: give one of them another name",
  ]);
  const outside = { upstreams: new Map(), models: new Set(["of-file"]) };
  const { set } = edited(BASE, [alias("quick", "of-file")], 1);
  expect(checkSet(set.entries.values(), { ...AROUND, outside }).problems).toEqual([]);
});

test("a model that aliases name is not deleted, unless the file has it too", () => {
  const { set } = edited(BASE, [alias("quick", "fast")], 1);
  const gone = [edit("model", "fast", undefined)];
  const fileAliases = new Map([["speedy", "fast"]]);
  expect(edited(set, gone, 2, { fileAliases }).problems).toMatchObject([
    {
      name: "fast",
      problem: "is named by the aliases quick, speedy of the settings file: change or delete them first",
    },
  ]);
  const outside = { upstreams: new Map(), models: new Set(["fast"]) };
  expect(edited(set, gone, 2, { fileAliases, outside }).problems).toEqual([]);
  expect(edited(set, [...gone, edit("alias", "quick", undefined)], 2).problems).toEqual([]);
});

test("a fallback is a model or an alias that is there, and is not deleted before its model", () => {
  expect(problemsOf(model("slow", "vendor", { fallbacks: ["fest"] }))).toEqual([
    'model slow fallbacks[0]: must name one of the models; "fest" is none; did you mean "fast"?',
  ]);
  const { set } = edited(BASE, [model("slow", "vendor", { fallbacks: ["fast"] })], 1);
  const gone = [edit("model", "fast", undefined)];
  expect(edited(set, gone, 2).problems).toMatchObject([
    { name: "fast", problem: "is named by the model slow: change or delete it first" },
  ]);
  const outside = { upstreams: new Map(), models: new Set(["fast"]) };
  expect(edited(set, gone, 2, { outside }).problems).toEqual([]);
  expect(edited(set, [...gone, edit("model", "slow", undefined)], 2).problems).toEqual([]);
});

test("a problem names the object and its field, as a file's check would, with the nearest name", () => {
  expect(problemsOf(model("slow", "vendr"))).toEqual([
    'model slow targets[0].upstream: must name one of the upstreams; "vendr" is none; did you mean "vendor"?',
  ]);
  expect(problemsOf(model("slow", "vendor", { pric: "1" }))).toEqual([
    'model slow pric: is not known here; did you mean "price"?',
  ]);
  expect(problemsOf(edit("upstream", "Vendor", { family: "openai", api_key: "x" }))[0]).toContain("must be named by");
});

test("a renamed upstream takes its secret along to the same address, and to no other", () => {
  const renamed = (block: Block): ObjectEdit => ({ ...edit("upstream", "eu", block), renamedFrom: "vendor" });
  const rest = [model("fast", "eu"), edit("upstream", "vendor", undefined)];
  const { set, problems } = edited(BASE, [renamed({ family: "openai" }), ...rest], 1);
  expect([...problems, ...checkSet(set.entries.values(), AROUND).problems]).toEqual([]);
  expect(entryIn(set, "upstream", "eu")?.secrets).toEqual({ api_key: "sk-of-a-test" });
  expect(entryIn(set, "upstream", "vendor")).toBeUndefined();
  expect(problemsOf(renamed({ family: "openai", base_url: "http://elsewhere/v1" }), ...rest)[0]).toContain(
    "upstream eu api_key: must be given again",
  );
  expect(problemsOf(renamed({ family: "openai" }), edit("upstream", "vendor", undefined))[0]).toContain(
    "is named by the model fast",
  );
});

test("a renamed upstream whose secret this node cannot read needs it anew", () => {
  const entry = entryIn(BASE, "upstream", "vendor");
  if (entry === undefined) throw new Error("there is no vendor");
  const sealed = { ...entry, secrets: {}, unopened: new Uint8Array(1) };
  const set = { ...BASE, entries: new Map([...BASE.entries, [idOf(entry), sealed]]) };
  const renamed = { ...edit("upstream", "eu", { family: "openai" }), renamedFrom: "vendor" };
  const { problems } = edited(set, [renamed, model("fast", "eu"), edit("upstream", "vendor", undefined)], 1);
  const problem = expect.stringContaining("given again");
  expect(problems).toMatchObject([
    { name: "eu", field: "api_key", problem },
    { name: "eu", field: "headers", problem },
  ]);
});

const PAYMENTS: Block = {
  secret_key: "env:ALLOWED_KEY",
  webhook_secret: "whsec_of_a_test",
  console_url: "https://gateway.example.com/console",
};
const ISSUER: Block = {
  issuer: "https://login.example.com/",
  client_id: "tollgate",
  client_secret: "secret-of-a-test",
};

test.each([
  { name: "payments whose key is a reference", object: edit("payments", "stripe", PAYMENTS), want: [] },
  {
    name: "payments whose key has a wrong form",
    object: edit("payments", "stripe", { ...PAYMENTS, secret_key: "pk_public" }),
    want: ["secret_key"],
  },
  {
    name: "payments whose amounts do not fit, with a key that is not read",
    object: edit("payments", "stripe", { ...PAYMENTS, amounts: ["1"] }),
    want: ["amounts"],
  },
  { name: "payments of another provider", object: edit("payments", "paypal", PAYMENTS), want: [""] },
  { name: "an issuer for people of any account", object: edit("issuer", "corp", ISSUER), want: [] },
  {
    name: "an issuer without its address",
    object: edit("issuer", "corp", { client_id: "tollgate" }),
    want: ["issuer"],
  },
  { name: "metrics of accounts", object: edit("metrics", "metrics", { accounts: ["acme"] }), want: [] },
  { name: "metrics with the name of another block", object: edit("metrics", "models", {}), want: [""] },
])("of $name the wrong fields are named", ({ object, want }) => {
  const around = { ...AROUND, sources: ["env:ALLOWED_"] };
  const { set, problems } = edited(BASE, [object], 1);
  const all = [...problems, ...checkSet(set.entries.values(), around).problems];
  expect(all.map(({ kind, name, field }) => [kind, name, field])).toEqual(
    want.map((field) => [object.kind, object.name, field]),
  );
});

test.each([
  { kind: "issuer" as const, name: "corp", block: ISSUER, quiet: { title: "Corp" }, loud: { client_id: "other" } },
  {
    kind: "payments" as const,
    name: "stripe",
    block: PAYMENTS,
    quiet: { amount_max: "50", amounts: ["10"] },
    loud: { api_base: "http://127.0.0.1:1" },
  },
])("secrets of an object of the kind $kind stay where they are sent", ({ kind, name, block, quiet, loud }) => {
  const set = setOf(edit(kind, name, block));
  const { client_secret: _, secret_key: _key, webhook_secret: _hook, ...rest } = block;
  expect(edited(set, [edit(kind, name, { ...rest, ...quiet })], 1).problems).toEqual([]);
  const moved = edited(set, [edit(kind, name, { ...rest, ...loud })], 1);
  expect(moved.problems.map(({ problem }) => problem)).toEqual([expect.stringContaining("must be given again")]);
});
