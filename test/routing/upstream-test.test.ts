/** Whether a list of models shows that an upstream is well. */
import { expect, test } from "vitest";
import { UpstreamTestResult } from "../../src/api/index.js";
import { openaiCompatible } from "../../src/families/openai-compatible.js";
import { testUpstream } from "../../src/routing/upstream-test.js";
import { CredentialFailure, type UpstreamHandler, type UpstreamRequest } from "../../src/upstream/upstream.js";
import { targetOf } from "./served.js";

const LIST = JSON.stringify({ object: "list", data: [{ id: "tiny", object: "model" }] });
const WELL = UpstreamTestResult.UPSTREAM_TEST_RESULT_WELL;
const UNTESTED = UpstreamTestResult.UPSTREAM_TEST_RESULT_UNTESTED;

/** An upstream whose list needs the key or does not. */
function served(needsKey: boolean, hasServed: boolean) {
  const upstream = {
    send: ({ headers }: UpstreamRequest, handler: UpstreamHandler) => {
      const isIn = !needsKey || headers["authorization"] === "Bearer sk-1";
      queueMicrotask(() => {
        handler.onHead(isIn ? 200 : 401, { "content-type": "application/json" });
        handler.onData(Buffer.from(LIST));
        handler.onEnd();
      });
      return { pause: () => undefined, resume: () => undefined, abort: () => undefined };
    },
    close: () => Promise.resolve(),
  };
  const target = targetOf(upstream, "u");
  const evidence = { nowMs: 0, token: target.health.begin(0, "acme"), accountId: "acme" };
  if (hasServed) target.health.succeed(evidence);
  return { ...target.served, headers: openaiCompatible.headers("sk-1") };
}

test.each([
  { name: "a list that needs the key", needsKey: true, hasServed: false, result: WELL },
  { name: "a list for everybody, before a call was served", needsKey: false, hasServed: false, result: UNTESTED },
  { name: "a list for everybody, once a call was served", needsKey: false, hasServed: true, result: WELL },
])("$name", async ({ needsKey, hasServed, result }) => {
  const { answer: told } = await testUpstream(served(needsKey, hasServed), new Set(["tiny"]), undefined, () => 0);
  expect(told).toMatchObject({ result, modelCount: 1n, missingModels: [] });
  expect(told.problem === "").toBe(result === WELL);
});

test("a source of credentials that fails is named as the credential's fault", async () => {
  const failure = "Google issued no credential: the machine's identity failed";
  const upstream = {
    send: (_request: UpstreamRequest, handler: UpstreamHandler) => {
      queueMicrotask(() => handler.onError(new CredentialFailure(failure), false));
      return { pause: () => undefined, resume: () => undefined, abort: () => undefined };
    },
    close: () => Promise.resolve(),
  };
  const { answer: told } = await testUpstream(targetOf(upstream, "u").served, new Set(), undefined, () => 0);
  expect(told).toMatchObject({
    result: UpstreamTestResult.UPSTREAM_TEST_RESULT_CREDENTIAL,
    problem: failure,
    httpStatus: 0,
  });
});
