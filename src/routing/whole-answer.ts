/** Whole answers: a short one is read at once, and a long one beside the event loop; and how each is told. */
import assert from "node:assert/strict";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Event, Generation } from "../api/index.js";
import { withoutByteOrderMark } from "../base/bytes/byte-order-mark.js";
import { asBuffer } from "../base/bytes/bytes.js";
import type { GatheredBytes } from "../base/bytes/gathered-bytes.js";
import { sharedBytes } from "../base/bytes/shared-bytes.js";
import { asUtf8 } from "../base/bytes/utf8.js";
import { TYPED_FORM } from "../api/typed-form.js";
import { ToldModel } from "../wire/answer/told-model.js";
import { upstreamFailed } from "../wire/error/refusals.js";
import { LONG_BODY_BYTES } from "../wire/json/weight.js";
import {
  type AnswerOrder,
  type Batch,
  type DecodedAnswer,
  isLongAnswer,
  type ReadAnswer,
  type SourceBody,
  type WireRequest,
} from "../wire/wire.js";
import type { AttemptPlan } from "./attempt-types.js";

/** One that is longer is not told step by step: all steps are in memory, and a message that holds them has a bound. */
export const TOLD_BYTES_MAX = 8 * 1024 * 1024;
const NO_BYTES = Buffer.alloc(0);
const NO_REQUEST: SourceBody = { wire: "", body: NO_BYTES, headers: {} };

/** How one is told: in its wire's own bytes, as a body that is written once it is settled, or step by step. */
type Telling = "source" | "written" | "steps";

function tellingOf({ form, owned, acceptWire }: AttemptPlan): Telling {
  if (owned.stream) return "steps";
  if (form !== "events") return "source";
  return acceptWire === "" ? "steps" : "written";
}

/** True where it is not read on the event loop. */
export function isLong(kept: GatheredBytes, { long }: AttemptPlan): boolean {
  if (long === undefined) return false;
  return kept.length > LONG_BODY_BYTES || isLongAnswer(kept.joined());
}

/** Reads a short one. Throws as the wire does; so may its batch. */
export function readShort(kept: GatheredBytes, plan: AttemptPlan): Pick<DecodedAnswer, "report"> & { batch(): Batch } {
  const { request, endpoint, form, owned } = plan;
  const body = withoutByteOrderMark(kept.take());
  const answer = endpoint.wire.decodeAnswer(body, request.outline ?? request, form);
  // An upstream that answers whole where a stream was asked is told as a stream all the same, step by step.
  const isTyped = form === "events" || owned.stream;
  const told = plan.toldModel === undefined ? undefined : new ToldModel(plan.toldModel);
  const batch = (): Batch => {
    const read = isTyped
      ? batchOf(answer.events(), NO_BYTES, answer.embeddings?.())
      : batchOf([], asUtf8(answer.source ?? body));
    return told === undefined ? read : told.whole(read);
  };
  return { report: answer.report, batch };
}

/** Reads a long one. Rejects with UPSTREAM_FAILED where it cannot be read or told, or as its reader does. */
export async function readLong(kept: GatheredBytes, plan: AttemptPlan): Promise<ReadAnswer> {
  const { request, target, kind, form, accountId, long, deadline } = plan;
  assert(long !== undefined, "nobody reads long answers");
  const asked = request.outline ?? request;
  const tellsSteps = tellingOf(plan) === "steps";
  if (tellsSteps && kept.length > TOLD_BYTES_MAX) throw upstreamFailed("its answer is too long to be told in steps");
  const { facts, embedding } = asked;
  const order: AnswerOrder = {
    family: target.served.family.name,
    kind,
    form,
    tellsSteps,
    toldModel: plan.toldModel,
    facts,
    asked: sourceOf(asked),
    callIds: asked.callIds,
    embedding: embedding && { encoding: embedding.encoding, dimensions: embedding.dimensions },
  };
  const body = await sharedBytes(kept.pieces(), kept.length);
  kept.clear();
  return long.reader.read(body, order, { account: accountId, endMs: deadline.endMs });
}

/** What the client asked, as bytes. Vectors are asked for in no form that an answer is read by. */
export function sourceOf(asked: WireRequest): SourceBody {
  const { source, facts, embedding } = asked;
  if (source !== undefined) return source;
  if (embedding !== undefined) return NO_REQUEST;
  const input = { $case: "prompt" as const, value: asked.prompt() };
  const generation = { model: facts.model, input, outputTokensMax: undefined, clamp: undefined };
  return { wire: TYPED_FORM, body: asBuffer(Generation.encode(generation).finish()), headers: {} };
}

/** Its batches. One that is asked for as a stream comes in many, and its steps take some turns of the event loop. */
export async function* batchesOf(answer: ReadAnswer, plan: AttemptPlan): AsyncGenerator<Batch> {
  switch (tellingOf(plan)) {
    case "source":
      yield batchOf([], answer.source);
      return;
    case "written":
      yield batchOf([], NO_BYTES, undefined, answer);
      return;
    case "steps":
      if (!plan.owned.stream) {
        const events: Event[] = [];
        for (const steps of answer.steps) {
          events.push(...steps);
          await nextTurn();
        }
        yield batchOf(events, NO_BYTES, answer.embeddings);
        return;
      }
      for (const events of answer.steps) yield batchOf(events, NO_BYTES);
  }
}

export function batchOf(
  events: Event[],
  source: Buffer,
  embeddings?: Batch["embeddings"],
  long?: Batch["long"],
): Batch {
  return { events, source, visible: true, error: undefined, embeddings, long };
}
