/** Whole answers that are too long for the event loop: a thread beside it reads them, and writes them for clients. */
import { type Embedding, type Event, Finish, StreamGenerateResponse } from "../api/index.js";
import { asBuffer } from "../base/bytes/bytes.js";
import { GatewayError } from "../base/errors.js";
import type { Asker } from "../wire/answer/long-answer.js";
import { upstreamFailed } from "../wire/error/refusals.js";
import type {
  AnswerOrder,
  AnswerReport,
  GatheredAnswer,
  LongAnswers,
  ReadAnswer,
  UnwrittenAnswer,
} from "../wire/wire.js";
import type { AnswerInBytes, SharedSource, TellOrder } from "./protocol.js";
import { overloaded, ReadingThread, type ThreadWords } from "./reading-thread.js";

const NO_HEADERS = {};
const OF_ANSWERS: ThreadWords = {
  busy: () => overloaded("too many long answers wait to be read"),
  late: () => new GatewayError("ERROR_REASON_UPSTREAM_TIMEOUT", { phase: "total" }),
  tooMuch: (cause) => upstreamFailed("its answer takes too much to read", cause),
};

/** One that was read. The thread reads it once more where it is written for its client. */
class ThreadAnswer implements ReadAnswer {
  readonly report: AnswerReport;
  readonly source: Buffer;
  readonly #steps: readonly Uint8Array[];
  readonly #vectors: readonly Float64Array[] | undefined;

  constructor(
    private readonly thread: ReadingThread,
    private readonly body: SharedSource,
    private readonly order: AnswerOrder,
    private readonly asker: Asker,
    { report, source, steps, vectors }: AnswerInBytes,
  ) {
    this.report = report;
    this.source = source === undefined ? asBuffer(body.body) : asBuffer(source);
    this.#steps = steps;
    this.#vectors = vectors;
  }

  get steps(): Iterable<Event[]> {
    return stepsOf(this.#steps);
  }

  get embeddings(): readonly Embedding[] | undefined {
    return this.#vectors?.map((values) => ({ values: Array.from(values) }));
  }

  async write(wire: string, finish: Finish, createTime: Date): Promise<Buffer> {
    const to = tellOrder(wire, finish, createTime);
    const question = { source: this.body, task: { kind: "tell", order: this.order, to } } as const;
    return asBuffer((await this.thread.ask(question, this.asker, "told")).value);
  }
}

/** One whose steps came as a stream. */
class ThreadSteps implements UnwrittenAnswer {
  constructor(
    private readonly thread: ReadingThread,
    private readonly answer: GatheredAnswer,
    private readonly asker: Asker,
  ) {}

  async write(wire: string, finish: Finish, createTime: Date): Promise<Buffer> {
    const { steps, lengths, asked } = this.answer;
    const source = sharedSource(steps);
    const order = { lengths, asked: { ...asked, body: own(asked.body) } };
    const task = { kind: "fold", order, to: tellOrder(wire, finish, createTime) } as const;
    return asBuffer((await this.thread.ask({ source, task }, this.asker, "told")).value);
  }
}

function tellOrder(wire: string, finish: Finish, createTime: Date): TellOrder {
  return { wire, finish: Finish.encode(finish).finish(), createTime };
}

function sharedSource(body: Uint8Array): SharedSource {
  return { wire: "", body, headers: NO_HEADERS, purpose: "generate" };
}

function* stepsOf(messages: readonly Uint8Array[]): Generator<Event[]> {
  for (const message of messages) yield StreamGenerateResponse.decode(message).events;
}

/**
 * Reads long answers with one thread, which starts with the first of them. `waiting` is how many wait for it;
 * `taskMsMax` is how long it may be at one.
 */
export function createLongAnswers(taskMsMax?: number): LongAnswers & { waiting(): number } {
  const thread = new ReadingThread(OF_ANSWERS, taskMsMax);
  return {
    waiting: () => thread.waiting,
    async read(body, given, asker) {
      const order = { ...given, asked: { ...given.asked, body: own(given.asked.body) } };
      const source = sharedSource(body);
      const { value } = await thread.ask({ source, task: { kind: "answer", order } }, asker, "answer");
      return new ThreadAnswer(thread, source, order, asker, value);
    },
    gathered: (answer, asker) => new ThreadSteps(thread, answer, asker),
    close: () => thread.close(),
  };
}

/** Bytes that cross to the thread alone: of a view, all of the memory behind it would be copied. */
function own(bytes: Buffer): Buffer {
  return bytes.buffer instanceof SharedArrayBuffer ? bytes : asBuffer(new Uint8Array(bytes));
}
