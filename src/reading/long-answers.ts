/** Whole answers that are too long for the event loop: a thread beside it reads them, and writes them for clients. */
import { type Embedding, type Event, Finish, StreamGenerateResponse } from "../api/index.js";
import { asBuffer } from "../api/bytes.js";
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
import { overloaded, ReadingThread } from "./reading-thread.js";

const NO_HEADERS = {};

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
    private readonly account: string,
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
    return asBuffer((await this.thread.ask(question, this.account, "told")).value);
  }
}

/** One whose steps came as a stream. */
class ThreadSteps implements UnwrittenAnswer {
  constructor(
    private readonly thread: ReadingThread,
    private readonly answer: GatheredAnswer,
    private readonly account: string,
  ) {}

  async write(wire: string, finish: Finish, createTime: Date): Promise<Buffer> {
    const { steps, lengths, asked } = this.answer;
    const source = sharedSource(steps);
    const order = { lengths, asked: { ...asked, body: own(asked.body) } };
    const task = { kind: "fold", order, to: tellOrder(wire, finish, createTime) } as const;
    return asBuffer((await this.thread.ask({ source, task }, this.account, "told")).value);
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

/** Reads long answers with one thread, which starts with the first of them. `waiting` is how many wait for it. */
export function createLongAnswers(): LongAnswers & { waiting(): number } {
  const thread = new ReadingThread({
    busy: () => overloaded("too many long answers wait to be read"),
    tooMuch: (cause) => upstreamFailed("its answer takes too much to read", cause),
  });
  return {
    waiting: () => thread.waiting,
    async read(body, given, account) {
      const order = { ...given, asked: { ...given.asked, body: own(given.asked.body) } };
      const source = sharedSource(body);
      const { value } = await thread.ask({ source, task: { kind: "answer", order } }, account, "answer");
      return new ThreadAnswer(thread, source, order, account, value);
    },
    gathered: (answer, account) => new ThreadSteps(thread, answer, account),
    close: () => thread.close(),
  };
}

/** Bytes that cross to the thread alone: of a view, all of the memory behind it would be copied. */
function own(bytes: Buffer): Buffer {
  return bytes.buffer instanceof SharedArrayBuffer ? bytes : asBuffer(new Uint8Array(bytes));
}
