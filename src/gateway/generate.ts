/** The pipeline of a generation: admission, hold, answer, settlement. */
import type { Generation } from "../api/index.js";
import { ByteLease } from "../base/bytes/byte-budget.js";
import { generatedTokens, totalTokens } from "../api/usage.js";
import type { Sink } from "../api/channel.js";
import { GatewayError } from "../base/errors.js";
import { failpoint } from "../base/failpoint.js";
import { requireUnfrozen } from "../keys/account-freeze.js";
import type { Caller } from "../keys/caller.js";
import type { Hold } from "../ledger/ledger.js";
import type { LimitDecision } from "../limits/limit-decision.js";
import type { Plan } from "../pricing/hold-plan.js";
import { estimateInput } from "../pricing/request-tokens.js";
import type { RequestRecord } from "../records/request-record.js";
import type { LongReading } from "../routing/attempt-types.js";
import type { RequestMarks } from "../routing/cache-marking.js";
import type { RunOptions } from "../routing/routing.js";
import type { WireRequest } from "../wire/wire.js";
import { findModel } from "./admission.js";
import { withRoom } from "./context-room.js";
import type { Ending } from "./charge.js";
import { Fallbacks } from "./fallbacks.js";
import type { GatewayCall } from "./gateway.js";
import { Meter } from "./meter.js";
import type { AnswerBatch, MeteredTurn, Outcome } from "./meter-types.js";
import { type Ended, recordFallback, recordOutcome } from "./record.js";
import { describeRequest } from "./request-trace.js";
import type { Steps } from "./steps.js";
import { isStrict, modelRequest, takeTurn, type Turn, type TurnParts } from "./turn.js";

// An answer longer than what a crash may lose is settled before its last byte goes out.
const SETTLE_FIRST_TOKENS = 1_000n;

/** A parsed request, and how its caller receives the answer. */
export interface ParsedRequest {
  readonly request: WireRequest;
  readonly generation: Generation;
  readonly acceptWire: string;
}

/**
 * Runs one request. `read` parses it after the key's limits of requests and concurrency admitted it. Every hold is
 * settled exactly once, however the request ends.
 */
export async function generate(
  read: () => ParsedRequest | Promise<ParsedRequest>,
  call: GatewayCall,
  sink: Sink<AnswerBatch>,
  steps: Steps,
): Promise<void> {
  requireUnfrozen(call.caller);
  const startMs = performance.now();
  const admission = await (call.decision ?? steps.limits.admit(call.caller, call.requestId));
  const long = { reader: steps.longAnswers, memory: new ByteLease(steps.answerMemory, call.caller.accountId) };
  let usedTokens = 0;
  let isReserved = false;
  const turns: Turn[] = [];
  try {
    call.record?.take();
    const reading = read();
    const parsed = await reading;
    if (call.record !== undefined) noteRequest(parsed.request, call.record, call.caller);
    const model = findModel(parsed.request.facts.model, call.caller, steps);
    const deadline = steps.routing.deadline(model, startMs, call.callerEndMs ?? Infinity);
    const asked = modelRequest(model, parsed, call, steps.routing.nowMs());
    describeRequest(call, asked.request, model, asked.kind);
    isReserved = true;
    const parts = { parsed, call, admission, deadline, steps };
    const first = await takeTurn(asked, 0, parts);
    turns.push(first);
    const ended = await runTurns(first, turns, parts, { sink, long, startMs });
    usedTokens = ended.usedTokens;
    if (ended.failure !== undefined) throw ended.failure;
  } catch (error) {
    // Before its tokens were known: its limits of requests, which nodes share, may not have been asked yet.
    const entering = isReserved ? undefined : admission.enter();
    if (entering !== undefined) await entering;
    throw error;
  } finally {
    long.memory.giveBack();
    giveBack(turns, admission, usedTokens, call, steps);
  }
}

/** What all models that have a turn at a request share of its caller. */
interface Receiving {
  readonly sink: Sink<AnswerBatch>;
  readonly long: LongReading;
  readonly startMs: number;
}

interface EndedRequest {
  /** What the request counts in limits of tokens. */
  readonly usedTokens: number;
  readonly failure: GatewayError | undefined;
}

/**
 * Runs the request on the model that it names, and on its fallbacks while the models fail: each turn is settled before
 * the next one holds money. `turns` gets those that follow the first one.
 */
async function runTurns(first: Turn, turns: Turn[], parts: TurnParts, receiving: Receiving): Promise<EndedRequest> {
  const { call, steps } = parts;
  let turn = first;
  const named = turn.request.facts.route?.models ?? [];
  const fallbacks = new Fallbacks(turn.model, named, call.caller, steps.routing);
  const meter = meterOf(turn, parts, receiving);
  for (;;) {
    const answered = await answer(turn, parts, receiving, meter, fallbacks.hasNext);
    const { outcome, chargedNanos, failure } = await conclude(meter, turn.hold, answered, call, steps);
    noteMarks(turn.marks, outcome, call);
    settleQuota(turn, outcome, chargedNanos, failure);
    const mayFallBack = failure !== undefined && meter.firstBatchMs === undefined;
    const next = mayFallBack ? await nextTurn(failure, fallbacks, parts) : undefined;
    if (next === undefined) {
      // What was sent counts in limits whoever pays for it: else they would be passed by hanging up.
      const usedTokens = limitedTokens(outcome, turn.request, turn.plan);
      const { model, hold } = turn;
      const ended = { outcome, chargedNanos, startMs: receiving.startMs, clampedTo: clampOf(turn) };
      const reported = failure && !call.signal.aborted ? fallbacks.reported(failure) : failure;
      record({ ...ended, call, model, meter, hold, failure: reported }, steps);
      return { usedTokens, failure: reported };
    }
    recordFallback({ call, meter, outcome, failure, model: turn.model, next: next.model }, steps);
    turns.push(next);
    turn = next;
    meter.fallBack(meteredTurn(turn, parts));
  }
}

/** A request that failed before it used anything does not count. */
function settleQuota(
  { quota, request, plan }: Turn,
  outcome: Outcome,
  nanos: bigint,
  failure: GatewayError | undefined,
): void {
  if (quota === undefined) return;
  const tokens = limitedTokens(outcome, request, plan);
  quota.settle({ tokens, nanos, isCounted: failure === undefined || tokens > 0 || nanos > 0n });
}

/** Remembers whether the marks paid, and who set them. */
function noteMarks(marks: RequestMarks | undefined, { usage }: Outcome, { record: session }: GatewayCall): void {
  if (marks === undefined) return;
  marks.ended(usage);
  if (session !== undefined) session.cacheMarks = marks.marker;
}

/** The turn of the next model that may answer after the failure; undefined if there is none. */
async function nextTurn(failure: GatewayError, fallbacks: Fallbacks, parts: TurnParts): Promise<Turn | undefined> {
  const { parsed, call, deadline, steps } = parts;
  while (!call.signal.aborted && deadline.leftMs(performance.now()) > 0) {
    const model = fallbacks.after(failure);
    if (model === undefined) return undefined;
    try {
      // Each try has a hold of its own, also after one whose end is not known.
      const asked = modelRequest(model, parsed, call, steps.routing.nowMs());
      return await takeTurn(asked, fallbacks.tried, parts);
    } catch (error) {
      // What the money, a limit or the model itself does not allow is no fallback, and the failure stays what it was.
      if (!(error instanceof GatewayError)) throw error;
    }
  }
  return undefined;
}

/** The output limit to which the request was lowered; undefined if it was not. */
function clampOf({ coveredTokens, plan }: Turn): number | undefined {
  return coveredTokens === plan.outputTokensMax ? undefined : coveredTokens;
}

function meteredTurn(turn: Turn, { admission }: TurnParts): MeteredTurn {
  const { request, model, kind, plan, hold, coveredTokens } = turn;
  const outputTokensMax = coveredTokens === undefined ? undefined : coveredTokens * request.facts.candidateCount;
  return { request, model, kind, plan, hold, outputTokensMax, head: headOf(admission.head, turn) };
}

function meterOf(turn: Turn, parts: TurnParts, { sink, startMs }: Receiving): Meter {
  const { parsed, call, steps } = parts;
  return new Meter(meteredTurn(turn, parts), {
    sink,
    stream: turn.request.facts.stream,
    acceptWire: parsed.acceptWire,
    startMs,
    createTime: new Date(steps.nowMs()),
    accountId: call.caller.accountId,
    routing: steps.routing,
    record: call.record,
    parsed,
  });
}

/** About so many bytes are a token of what is read again. */
const REPEATED_BYTES_PER_TOKEN = 4;

/**
 * What a request counts in limits of tokens. One that is billed by other units counts by its length, since its upstream
 * tells no tokens.
 */
function limitedTokens({ unbilled, usage }: Outcome, request: WireRequest, { tokens }: Plan): number {
  const used = unbilled ?? usage;
  const usedTokens = totalTokens(used);
  if (usedTokens > 0 || used.meters.length === 0) return usedTokens;
  const { start = 0, end = 0, times = 0 } = request.facts.repeated ?? {};
  return Math.min(estimateInput(request) + Math.ceil(((end - start) * times) / REPEATED_BYTES_PER_TOKEN), tokens);
}

/** The head, with the output limit if that was lowered, and with the warning of a quota. */
function headOf(head: LimitDecision["head"], turn: Turn): LimitDecision["head"] {
  const clampedTo = clampOf(turn);
  const warning = turn.quota?.warning;
  if (clampedTo === undefined && warning === undefined) return head;
  return {
    ...head,
    ...(clampedTo === undefined ? {} : { "x-tollgate-clamped": String(clampedTo) }),
    ...(warning === undefined ? {} : { "x-tollgate-quota": warning }),
  };
}

/** Writes what the request asks for into its record, whether the request is refused or not. */
function noteRequest(request: WireRequest, record: RequestRecord, { content }: Caller): void {
  const { facts, source, members } = request.outline ?? request;
  record.model = request.facts.model;
  record.streamed = facts.stream;
  if (source !== undefined && members !== undefined) record.body = { bytes: source.body, members };
  if (content !== undefined) record.keepContent(content, request);
}

/**
 * Cleans up after an error, so that no money stays held and no slot stays taken. The three steps are independent, and
 * none changes how the request ended.
 */
function giveBack(
  turns: readonly Turn[],
  admission: LimitDecision,
  usedTokens: number,
  { requestId, record: tap }: GatewayCall,
  { log }: Steps,
): void {
  tap?.giveBack();
  try {
    for (const { hold } of turns) hold.close();
  } catch (err) {
    log.error({ request_id: requestId, err }, "a hold could not be closed; recovery resolves it");
  }
  try {
    admission.correct(usedTokens);
  } catch (err) {
    log.error({ request_id: requestId, err }, "a request's tokens could not be corrected in its limits");
  }
  admission.release();
}

/** Streams the answer into the meter. Resolves with the error that the answer failed with, if any. */
async function answer(
  turn: Turn,
  { parsed: { acceptWire }, call, deadline, steps: { metrics, routing } }: TurnParts,
  { long }: Receiving,
  meter: Meter,
  hasFallback: boolean,
): Promise<GatewayError | undefined> {
  const { caller, signal, record: session } = call;
  const { request, model, kind, plan, coveredTokens, marks } = turn;
  const { stream, candidateCount } = request.facts;
  const run: RunOptions = {
    kind,
    acceptWire,
    outputTokensMax: plan.sentOutputTokens(coveredTokens),
    stream,
    candidateCount,
    strict: isStrict(request, caller),
    accountId: caller.accountId,
    signal,
    deadline,
    session,
    tokens: plan.tokens,
    marks,
    hasFallback,
  };
  metrics.running += 1;
  try {
    const roomy = model.contextLeast === undefined ? model : await withRoom(turn, call);
    await routing.run(request, roomy, run, meter, long);
    // Before it is settled: an answer that cannot be written for its client costs nothing.
    if (meter.isUnwritten) await meter.write(await meter.outcome(endingOf(undefined, call)));
    return undefined;
  } catch (error) {
    if (meter.isUnwritten) meter.forget();
    return meter.failed(GatewayError.from(error));
  } finally {
    meter.waiting?.end();
    metrics.running -= 1;
  }
}

/** Writes record, log and metrics. A failure here never changes what the caller receives. */
function record(ended: Ended, steps: Steps): void {
  try {
    recordOutcome(ended, steps);
  } catch (err) {
    steps.log.error({ request_id: ended.call.requestId, err }, "a request could not be recorded");
  }
}

interface Concluded {
  readonly outcome: Outcome;
  readonly chargedNanos: bigint;
  /** The error of the request, including a failure to deliver its last bytes: it is charged all the same. */
  readonly failure: GatewayError | undefined;
}

/** Settles, and ends a complete answer. A failure here never hides the error that ended a failed one. */
async function conclude(
  meter: Meter,
  hold: Hold,
  failure: GatewayError | undefined,
  call: GatewayCall,
  steps: Steps,
): Promise<Concluded> {
  try {
    const outcome = await meter.outcome(endingOf(failure, call));
    const { upstream, attempts, attemptLog } = meter;
    // A cost within the hold is charged whole. What is above it depends on what the account has when it is settled.
    const isAboveHold = outcome.costNanos > hold.amountNanos;
    const mustWait = isAboveHold || generatedTokens(outcome.usage) > SETTLE_FIRST_TOKENS;
    const settling = hold.settle({ upstream, attempts, attemptLog, ...outcome }, mustWait);
    const settled = mustWait ? await settling : undefined;
    const chargedNanos = isAboveHold ? (settled?.chargedNanos ?? hold.amountNanos) : outcome.costNanos;
    // A process that is killed from here on leaves what its client was told to the next start.
    if (!mustWait && hold.noted !== undefined) await hold.noted;
    return { outcome, chargedNanos, failure: failure ?? tellEnd(meter, outcome, chargedNanos, call) };
  } catch (error) {
    if (failure === undefined) throw error;
    steps.log.error({ request_id: call.requestId, err: error }, "a failed request could not be settled as it ended");
    throw failure;
  }
}

/**
 * Sends the end of a complete answer that is settled. Returns the error if that fails; the record shows the charge all
 * the same.
 */
function tellEnd(
  meter: Meter,
  outcome: Outcome,
  chargedNanos: bigint,
  { signal }: GatewayCall,
): GatewayError | undefined {
  try {
    failpoint("before_last_bytes");
    if (!signal.aborted) meter.end(outcome, chargedNanos);
    return undefined;
  } catch (error) {
    return GatewayError.from(error);
  }
}

function endingOf(failure: GatewayError | undefined, call: GatewayCall): Ending {
  if (failure === undefined) return "finished";
  return call.signal.aborted ? "left" : "failed";
}
