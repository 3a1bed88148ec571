/**
 * The steps of a target that only streams, until its answer is whole. They are kept as bytes, which take a tenth of the
 * memory of the steps themselves, and a long answer is written for its client from them beside the event loop.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Event, StreamGenerateResponse } from "../api/index.js";
import { asBuffer } from "../base/bytes/bytes.js";
import { sharedBytes } from "../base/bytes/shared-bytes.js";
import { upstreamFailed } from "../wire/error/refusals.js";
import type { Batch } from "../wire/wire.js";
import type { AttemptPlan } from "./attempt-types.js";
import { batchOf, sourceOf, TOLD_BYTES_MAX } from "./whole-answer.js";

/** A message of some steps. */
const MESSAGE_BYTES = 65_536;
/** What is longer is not made of steps again on the event loop in one turn. */
const SHORT_BYTES = 2 * MESSAGE_BYTES;
const NO_BYTES = Buffer.alloc(0);

type Plan = Pick<AttemptPlan, "request" | "acceptWire" | "accountId" | "deadline" | "long">;

export class GatheredSteps {
  readonly #messages: Buffer[] = [];
  #open: Uint8Array[] = [];
  #openBytes = 0;
  #bytes = 0;

  constructor(private readonly plan: Plan) {}

  add(events: Event[]): void {
    if (events.length === 0) return;
    const message = StreamGenerateResponse.encode({ events, source: NO_BYTES }).finish();
    this.#open.push(message);
    this.#openBytes += message.length;
    this.#bytes += message.length;
    if (this.#openBytes >= MESSAGE_BYTES) this.#close();
  }

  /** The answer. Rejects with UPSTREAM_FAILED where it is too long to be told. */
  whole(): Batch | Promise<Batch> {
    this.#close();
    const { long, acceptWire } = this.plan;
    if (this.#bytes <= SHORT_BYTES) return batchOf(this.#messages.flatMap(stepsOf), NO_BYTES);
    return long === undefined || acceptWire === "" ? this.#inTurns() : this.#unwritten(long.reader);
  }

  /** Messages are repeated fields: one behind the other they are one. */
  #close(): void {
    if (this.#openBytes > 0) this.#messages.push(Buffer.concat(this.#open, this.#openBytes));
    this.#open = [];
    this.#openBytes = 0;
  }

  async #inTurns(): Promise<Batch> {
    if (this.#bytes > TOLD_BYTES_MAX) throw upstreamFailed("its answer is too long to be told in steps");
    const events: Event[] = [];
    for (const message of this.#messages) {
      for (const event of stepsOf(message)) events.push(event);
      await nextTurn();
    }
    return batchOf(events, NO_BYTES);
  }

  async #unwritten(reader: NonNullable<Plan["long"]>["reader"]): Promise<Batch> {
    const { request, accountId, deadline } = this.plan;
    const asker = { account: accountId, endMs: deadline.endMs };
    const lengths = this.#messages.map(({ length }) => length);
    const steps = await sharedBytes(this.#messages.splice(0), this.#bytes);
    const asked = sourceOf(request.outline ?? request);
    return batchOf([], NO_BYTES, undefined, reader.gathered({ steps, lengths, asked }, asker));
  }
}

function stepsOf(message: Uint8Array): Event[] {
  return StreamGenerateResponse.decode(asBuffer(message)).events;
}
