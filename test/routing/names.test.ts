/** Models by names that clients spell with other capitals. */
import { expect, test } from "vitest";
import { GatewayError } from "../../src/base/errors.js";
import { Price } from "../../src/api/index.js";
import type { ServedModel } from "../../src/routing/model.js";
import { Routing } from "../../src/routing/routing.js";
import { affinity, limiter, promptCaches } from "../support/prompt-caches.js";

const ANYONE = { mayUseModel: (_name: string) => true };
const nothing = (): undefined => undefined;
const timeouts = { totalMs: 1, firstTokenMs: 1, wholeMs: 1, idleMs: 1, lingerMs: 1, readOnMs: 1 };

function routing(...ids: string[]): Routing {
  const made = new Routing({
    nowMs: () => 0,
    random: () => 0.5,
    timeouts,
    listed: nothing,
    onAttempt: nothing,
    onReadOn: nothing,
    onUnknownMember: nothing,
    affinity,
    limiter,
    promptCaches,
  });
  const limits = { contextTokens: 0, outputTokensMax: 0, kind: "chat" as const, price: Price.decode(new Uint8Array()) };
  const rest = {
    owner: "",
    isListPriced: false,
    createTime: new Date(0),
    ...limits,
    targets: [],
    streamHeadMs: 10_000,
  };
  const models = ids.map((id): ServedModel => Object.assign({ id }, rest));
  const [first] = models;
  const aliases = new Map(first === undefined ? [] : [["Alias", { ...first, alias: "Alias" }]]);
  made.replace({ models: new Map(models.map((model) => [model.id, model])), aliases, upstreams: new Map() });
  return made;
}

const found = (from: Routing, name: string, caller = ANYONE): string => {
  try {
    return from.find(name, caller).id;
  } catch (error) {
    return GatewayError.from(error).reason;
  }
};

const UNKNOWN = "ERROR_REASON_MODEL_UNKNOWN";

test.each([
  { may: ["fast", "Alias"], asked: "alias", want: "fast" },
  { may: ["fast"], asked: "alias", want: "ERROR_REASON_MODEL_NOT_ALLOWED" },
  { may: ["Alias"], asked: "Alias[1m]", want: "ERROR_REASON_MODEL_NOT_ALLOWED" },
  { may: ["fast"], asked: "FAST", want: "fast" },
])("a caller who may use $may gets $want for '$asked'", ({ may, asked, want }) => {
  const caller = { mayUseModel: (name: string) => may.includes(name) };
  const from = routing("fast");
  expect(found(from, asked, caller)).toBe(want);
  const names = from.list(caller).map(({ id, alias }) => alias ?? id);
  expect(names).toEqual(["fast", "Alias"].filter((name) => may.includes(name) && may.includes("fast")));
});

test.each([
  { served: ["gpt-4o"], asked: "GPT-4o", want: "gpt-4o" },
  { served: ["Qwen/Qwen3-Coder"], asked: "qwen/qwen3-coder", want: "Qwen/Qwen3-Coder" },
  { served: ["Qwen/Qwen3-Coder"], asked: "Qwen/Qwen3-Coder", want: "Qwen/Qwen3-Coder" },
  { served: ["Fast", "fast"], asked: "fast", want: "fast" },
  { served: ["Fast", "fast"], asked: "Fast", want: "Fast" },
  { served: ["Fast", "fast"], asked: "FAST", want: UNKNOWN },
  { served: ["fast", "faster"], asked: "FASTER", want: "faster" },
  { served: ["fast"], asked: "fas", want: UNKNOWN },
  { served: ["constructor"], asked: "__proto__", want: UNKNOWN },
  { served: ["fast"], asked: "", want: UNKNOWN },
])("of $served, '$asked' is $want", ({ served, asked, want }) => {
  expect(found(routing(...served), asked)).toBe(want);
});

test("new settings bring their names", () => {
  const made = routing("gpt-4o");
  made.replace({ models: new Map(), upstreams: new Map() });
  expect(found(made, "GPT-4O")).toBe(UNKNOWN);
});
