/** A test of an upstream: its list of models, and one small call, both with the gateway's credential. */
import { type TestUpstreamResponse, UpstreamTestResult } from "../api/index.js";
import { withoutSecrets } from "../base/redaction.js";
import type { ListedModel } from "../families/family.js";
import { CredentialFailure } from "../upstream/upstream.js";
import type { ModelFacts, WireRequest } from "../wire/wire.js";
import { listModels } from "./listing.js";
import type { ServedUpstream } from "./model.js";
import { exchange, ExchangeFailure } from "./upstream-exchange.js";

const REFUSED_STATUSES: ReadonlySet<number> = new Set([401, 403]);
const NO_LIST = "its family has no list of models, and none of its models was called";
const PUBLIC_LIST =
  "its list of models needs no key, so it does not prove the credential, and none of its models was called";
/** A model that reasons may take some time for a word. */
const CALL_TIMEOUT_MS = 30_000;
const ANSWER_BYTES_MAX = 1024 * 1024;
/** A test is no account's request. */
const NO_ACCOUNT = "";
/** Enough for a word, and more than the least that upstreams take. */
const CALL_TOKENS_MAX = 16;
const PROBLEM_CHARACTERS_MAX = 300;

/** What is called beside the list. */
export interface TestCall {
  /** The upstream's name of a chat model. */
  readonly model: string;
  readonly facts: ModelFacts;
  readonly request: WireRequest;
}

export interface UpstreamTest {
  readonly answer: TestUpstreamResponse;
  readonly listed: readonly ListedModel[];
}

/** `asked` are the models that the settings name there. Never rejects. */
export async function testUpstream(
  served: ServedUpstream,
  asked: ReadonlySet<string>,
  call: TestCall | undefined,
  nowMs: () => number,
): Promise<UpstreamTest> {
  const startMs = nowMs();
  let listed: readonly ListedModel[] = [];
  const outcome = (result: keyof typeof RESULTS, problem: string, httpStatus: number): UpstreamTest => {
    const known = new Set(listed.map(({ id }) => id));
    const missingModels = listed.length === 0 ? [] : [...asked].filter((model) => !known.has(model)).sort();
    const durationMs = BigInt(Math.ceil(nowMs() - startMs));
    const modelCount = BigInt(listed.length);
    return { answer: { result: RESULTS[result], problem, httpStatus, durationMs, modelCount, missingModels }, listed };
  };
  try {
    const hasList = served.family.modelsPath !== undefined;
    if (hasList) listed = await listModels(served);
    if (call !== undefined) {
      const target = served.health.of(call.model);
      const evidence = { token: target.begin(startMs, NO_ACCOUNT), accountId: NO_ACCOUNT };
      const { status, problem } = await callModel(served, call).finally(() => target.end());
      if (status !== 200) return outcome(resultOf(status), problem, status);
      // What was ejected is taken back, as by any request that it serves.
      target.succeed({ ...evidence, nowMs: nowMs() });
      served.health.prove(nowMs());
      return outcome("well", "", status);
    }
    if (served.health.hasServed) return outcome("well", "", hasList ? 200 : 0);
    if (!hasList) return outcome("untested", NO_LIST, 0);
    return (await isPublic(served)) ? outcome("untested", PUBLIC_LIST, 200) : outcome("well", "", 200);
  } catch (error) {
    if (error instanceof ExchangeFailure && error.cause instanceof CredentialFailure)
      return outcome("credential", error.cause.message, 0);
    const status = error instanceof ExchangeFailure ? error.status : undefined;
    return outcome(resultOf(status), error instanceof Error ? error.message : String(error), status ?? 0);
  }
}

const RESULTS = {
  well: UpstreamTestResult.UPSTREAM_TEST_RESULT_WELL,
  unreachable: UpstreamTestResult.UPSTREAM_TEST_RESULT_UNREACHABLE,
  credential: UpstreamTestResult.UPSTREAM_TEST_RESULT_CREDENTIAL,
  failed: UpstreamTestResult.UPSTREAM_TEST_RESULT_FAILED,
  untested: UpstreamTestResult.UPSTREAM_TEST_RESULT_UNTESTED,
} as const;

/** Asks a model for a word. Of an answer that is none, the status and its beginning say why. */
async function callModel(
  served: ServedUpstream,
  { model, facts, request }: TestCall,
): Promise<{ readonly status: number; readonly problem: string }> {
  const { family } = served;
  const stream = facts.streamOnly === true;
  const limits = { outputTokensMax: CALL_TOKENS_MAX, candidateCount: 1, cache: undefined };
  const owned = { model, facts, toldFacts: {}, stream, ...limits };
  const body = family.wire.encodeRequest(request, owned, family.dialect, []);
  const headers = { ...served.headers, ...family.requestHeaders?.(request), "content-type": "application/json" };
  const bounds = { what: `the call of ${model}`, bytesMax: ANSWER_BYTES_MAX, timeoutMs: CALL_TIMEOUT_MS };
  const path = family.generatePath(model, stream);
  const answer = await exchange(served, { method: "POST", path, headers, body, ...bounds });
  const said = messageIn(answer.body.toString("utf8")).replaceAll(/\s+/g, " ");
  const text = withoutSecrets(said).slice(0, PROBLEM_CHARACTERS_MAX);
  return { status: answer.status, problem: `the call of ${model} answered with status ${answer.status}: ${text}` };
}

/** What the envelope of an error says; a body that is none says itself. */
function messageIn(body: string): string {
  try {
    const { error } = JSON.parse(body) as { readonly error?: { readonly message?: unknown } | null };
    return typeof error?.message === "string" && error.message !== "" ? error.message : body;
  } catch {
    return body;
  }
}

/** True where the list is told to whoever asks. What runs inside the process takes no credential at all. */
async function isPublic(served: ServedUpstream): Promise<boolean> {
  const { family } = served;
  if (family.connect !== undefined) return false;
  return listModels(served, family.headers(undefined)).then(
    () => true,
    () => false,
  );
}

function resultOf(status: number | undefined): keyof typeof RESULTS {
  if (status === undefined || status === 0) return "unreachable";
  return REFUSED_STATUSES.has(status) ? "credential" : "failed";
}
