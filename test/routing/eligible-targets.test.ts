/** Which targets may take a request: by whose it is, by what it needs, and what they can. */
import { expect, test } from "vitest";
import type { Target } from "../../src/routing/model.js";
import { ableTargets, eligibleModel, type TargetAsker } from "../../src/routing/eligible-targets.js";
import { wire } from "../../src/wire/openai-chat/index.js";
import type { ModelFacts, WireRequest } from "../../src/wire/wire.js";
import { ScriptedUpstream } from "./scripted-upstream.js";
import { modelOf, targetOf } from "./served.js";

const ASKER: TargetAsker = { accountId: "acme", keyId: "k", labels: {}, headers: {}, demands: undefined };
const PICTURE = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
const FILE = { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,AAAA" } };
const TOOL = { type: "function", function: { name: "f", parameters: { type: "object" } } };
const SCHEMA = { type: "json_schema", json_schema: { name: "s", schema: { type: "object" } } };

function targets(...all: readonly Partial<Target>[]): Target[] {
  return all.map((more, at) => Object.assign(targetOf(new ScriptedUpstream([]), String(at)), more));
}

function ask(more: object = {}, part?: object): WireRequest {
  const content = part === undefined ? "Hi" : [{ type: "text", text: "Hi" }, part];
  const body = Buffer.from(JSON.stringify({ model: "m", messages: [{ role: "user", content }], ...more }));
  return wire.readRequest({ wire: wire.name, body, headers: {} }, "generate");
}

const idsOf = (all: readonly Target[]): string => all.map(({ served }) => served.id).join("");

test.each<{ name: string; request: WireRequest; facts: ModelFacts[]; want: string }>([
  { name: "pictures", request: ask({}, PICTURE), facts: [{}, { images: true }, { images: false }], want: "1" },
  { name: "pictures that none is known for", request: ask({}, PICTURE), facts: [{}, { images: false }], want: "0" },
  {
    name: "pictures that none can",
    request: ask({}, PICTURE),
    facts: [{ images: false }, { images: false }],
    want: "01",
  },
  { name: "files", request: ask({}, FILE), facts: [{ files: false }, {}, { files: true }], want: "2" },
  { name: "tools", request: ask({ tools: [TOOL] }), facts: [{ tools: false }, { tools: true }], want: "1" },
  { name: "a schema", request: ask({ response_format: SCHEMA }), facts: [{ schemas: true }, {}], want: "0" },
  { name: "reasoning", request: ask({ reasoning_effort: "low" }), facts: [{ thinking: "none" }, {}], want: "1" },
  { name: "no reasoning", request: ask({ reasoning_effort: "none" }), facts: [{ thinking: "none" }, {}], want: "01" },
  {
    name: "two things at once",
    request: ask({ tools: [TOOL] }, PICTURE),
    facts: [{ images: true, tools: false }, { tools: true }],
    want: "1",
  },
  { name: "nothing", request: ask(), facts: [{ images: false, tools: false }, { images: true }], want: "01" },
])("what needs $name goes to who has it", ({ request, facts, want }) => {
  const all = targets(...facts.map((one) => ({ facts: one })));
  expect(idsOf(ableTargets(all, request, "chat", undefined))).toBe(want);
});

test("an output goes to who may generate as much, as settings say", () => {
  const all = targets({ toldFacts: { outputTokensMax: 100 } }, { toldFacts: { outputTokensMax: 1_000 } });
  expect(idsOf(ableTargets(all, ask(), "chat", 500))).toBe("1");
  expect(idsOf(ableTargets(all, ask(), "chat", 50))).toBe("01");
});

test.each<{ name: string; asker: Partial<TargetAsker>; want: string }>([
  { name: "of nobody who is named", asker: {}, want: "0" },
  { name: "of the account", asker: { accountId: "beta" }, want: "01" },
  { name: "of the key", asker: { keyId: "key_2" }, want: "02" },
  { name: "with the label", asker: { labels: { team: "a=b" } }, want: "03" },
  { name: "with the header", asker: { headers: { "x-tollgate-match-canary": "1" } }, want: "04" },
  { name: "with half of what must match", asker: { accountId: "gamma" }, want: "0" },
  { name: "with all of it", asker: { accountId: "gamma", keyId: "key_5" }, want: "05" },
])("a request $name goes to the targets that match", ({ asker, want }) => {
  const model = modelOf(
    targets(
      {},
      { match: { account: "beta" } },
      { match: { key: "key_2" } },
      { match: { label: ["team", "a=b"] } },
      { match: { header: ["x-tollgate-match-canary", "1"] } },
      { match: { account: "gamma", key: "key_5" } },
    ),
  );
  expect(idsOf(eligibleModel(model, { ...ASKER, ...asker }).targets)).toBe(want);
});

test("no target for such requests, and none that satisfies their demands, are two refusals", () => {
  const model = modelOf(targets({ match: { account: "beta" } }));
  expect(() => eligibleModel(model, ASKER)).toThrow(
    expect.objectContaining({ reason: "ERROR_REASON_MODEL_NOT_ALLOWED" }),
  );
  const demands = { regions: ["eu"], retentionDaysMax: 0 };
  const told = {
    reason: "ERROR_REASON_NO_COMPLIANT_TARGET",
    metadata: { model: "m", demands: "region=eu, retention=none" },
  };
  expect(() => eligibleModel(modelOf(targets({})), { ...ASKER, demands })).toThrow(expect.objectContaining(told));
});

test("a request that demands nothing finds the model as it is", () => {
  const model = modelOf(targets({ labels: { region: "eu" } }, {}));
  expect(eligibleModel(model, ASKER)).toBe(model);
});
