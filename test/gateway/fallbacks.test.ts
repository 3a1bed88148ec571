/** Which models may answer in place of another: each once, and so many in all that each can have a hold. */
import { expect, test } from "vitest";
import { FALLBACKS_MAX } from "../../src/base/fallback.js";
import { GatewayError } from "../../src/base/errors.js";
import type { Caller } from "../../src/keys/caller.js";
import { Fallbacks } from "../../src/gateway/fallbacks.js";
import type { ServedModel } from "../../src/routing/model.js";

const CALLER = {} as Caller;
const FAILED = new GatewayError("ERROR_REASON_UPSTREAM_FAILED");
const TOO_LONG = new GatewayError("ERROR_REASON_CONTEXT_TOO_LONG");
const REFUSED = new GatewayError("ERROR_REASON_UPSTREAM_REJECTED");

/** `known`: the models that the caller may use. */
function fallbacksOf(asked: Partial<ServedModel>, named: readonly string[], known: string): Fallbacks {
  const find = (id: string): ServedModel => {
    if (!known.includes(id)) throw new GatewayError("ERROR_REASON_MODEL_NOT_ALLOWED", { model: id });
    return { id } as ServedModel;
  };
  return new Fallbacks({ id: "a", ...asked } as ServedModel, named, CALLER, { find });
}

test("those of the request come first, and each model is tried once", () => {
  const fallbacks = fallbacksOf({ fallbacks: ["c", "b", "a"] }, ["b", "x", "a"], "abc");
  const tried = [1, 2, 3].map(() => fallbacks.after(FAILED)?.id);
  expect(tried).toEqual(["b", "c", undefined]);
  expect([fallbacks.tried, fallbacks.hasNext]).toEqual([2, false]);
});

test("there are as many in all as a request can have holds, with the one for long requests", () => {
  const fallbacks = fallbacksOf({ onContext: "l" }, ["b", "c", "d", "e"], "abcdel");
  const tried = [TOO_LONG, FAILED, FAILED, FAILED, FAILED].map((failure) => fallbacks.after(failure)?.id);
  expect(tried).toEqual(["l", "b", "c", "d", undefined]);
  expect(fallbacks.tried).toBe(FALLBACKS_MAX);
});

test("a model for long requests that is a fallback too is tried once", () => {
  const fallbacks = fallbacksOf({ fallbacks: ["l"], onContext: "l" }, [], "l");
  expect([TOO_LONG, FAILED].map((failure) => fallbacks.after(failure)?.id)).toEqual(["l", undefined]);
});

test("what is wrong with the request leads to no model, and the first failure of an upstream is reported", () => {
  const fallbacks = fallbacksOf({ fallbacks: ["b"] }, [], "b");
  expect(fallbacks.after(REFUSED)).toBeUndefined();
  expect(fallbacks.reported(REFUSED)).toBe(REFUSED);
  fallbacks.after(FAILED);
  expect(fallbacks.reported(REFUSED)).toBe(FAILED);
});
