/**
 * Sends what a node asks of Redis: all that one turn of the event loop asks for goes as one command. A question alone
 * goes at once, so that it is answered while its request is read.
 */
import type { Breaker } from "./redis-breaker.js";
import { SCRIPT, SCRIPT_SHA } from "./redis-script.js";

/** The answer to one part; undefined where none came in time, and then nobody knows whether it had an effect. */
export type Answer = readonly unknown[] | number | undefined;

/** A command holds at most so many parts, so that Redis is never busy with one for long. */
const PARTS_MAX = 128;

/** What the script answers to a caller without limits. */
const ADMITTED: Answer = [1, 0, 2];
const CHANGED: Answer = [2];

interface Part {
  readonly answer: (answer: Answer) => void;
  /** Of a part that only asks whether its keys hold these words; undefined of every other. */
  readonly words: readonly string[] | undefined;
}

/** What goes together: parts whose keys lie in one slot. */
interface Batch {
  readonly keys: string[];
  readonly args: (string | number)[];
  readonly parts: Part[];
}

/** Of a client, what is needed to send. */
interface Sender {
  readonly status: string;
  call(command: string, ...args: (string | number)[]): Promise<unknown>;
}

export interface RedisPipeOptions {
  readonly client: Sender;
  readonly breaker: Breaker;
  readonly monotonicMs: () => number;
  /** The time that windows go by, for tests; 0: the server's own. */
  readonly serverMs: () => number;
  /** When an answer is late. It is waited for all the same. */
  readonly slowMs: number;
  /** When it is not waited for any more. */
  readonly giveUpMs: number;
  /** Hears how long an answer took. */
  readonly onAnswer: (tookMs: number) => void;
  readonly onFailure: (error: unknown) => void;
}

export class RedisPipe {
  readonly #options: RedisPipeOptions;
  readonly #batches = new Map<string, Batch>();
  #isScheduled = false;
  /** Commands that have no answer yet. */
  #waiting = 0;
  /** How many parts the last command had: with more than one, requests are so many that they wait for each other. */
  #lastParts = 1;

  constructor(options: RedisPipeOptions) {
    this.#options = options;
  }

  /**
   * Sends one part with this turn's others of its slot. `answer` runs once, in a later turn. `words`: those that its
   * keys must hold, where it asks for nothing else.
   */
  send(
    slot: string,
    keys: readonly string[],
    args: readonly (string | number)[],
    answer: Part["answer"],
    words?: Part["words"],
  ): void {
    let batch = this.#batches.get(slot);
    if (batch === undefined) this.#batches.set(slot, (batch = { keys: [], args: [], parts: [] }));
    for (const key of keys) batch.keys.push(key);
    for (const arg of args) batch.args.push(arg);
    batch.parts.push({ answer, words });
    const goesAlone = words !== undefined && this.#waiting === 0 && this.#lastParts === 1 && this.#batches.size === 1;
    if ((goesAlone && batch.parts.length === 1) || batch.parts.length >= PARTS_MAX) {
      this.#batches.delete(slot);
      this.#run(batch);
      return;
    }
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#flush());
  }

  #flush(): void {
    this.#isScheduled = false;
    const batches = [...this.#batches.values()];
    this.#batches.clear();
    for (const batch of batches) this.#run(batch);
  }

  #run({ keys, args, parts }: Batch): void {
    const { breaker, monotonicMs, slowMs, giveUpMs, onAnswer, onFailure } = this.#options;
    const command = breaker.sent();
    this.#lastParts = parts.length;
    this.#waiting += 1;
    const sinceMs = monotonicMs();
    let isOver = false;
    const end = (answers: readonly Answer[] | undefined): void => {
      if (isOver) return;
      isOver = true;
      this.#waiting -= 1;
      clearTimeout(timer);
      for (const [index, { answer }] of parts.entries()) answer(answers?.[index]);
    };
    const fail = (error: unknown): void => {
      if (isOver) return;
      breaker.failed(command);
      onFailure(error);
      end(undefined);
    };
    const late = (): void => {
      if (isOver) return;
      breaker.late(command);
      timer = unlessAnswered(giveUpMs - slowMs, () => fail(new Error(`no answer of Redis in ${giveUpMs} ms`)));
    };
    let timer = unlessAnswered(slowMs, late);
    this.#call(keys, args, parts).then((answers) => {
      const tookMs = monotonicMs() - sinceMs;
      onAnswer(tookMs);
      // One that was read late, though it was there before anybody called it late, says how busy this process is.
      if (tookMs < slowMs) breaker.quick(command);
      end(answers);
    }, fail);
  }

  async #call(
    keys: readonly string[],
    args: readonly (string | number)[],
    parts: readonly Part[],
  ): Promise<readonly Answer[]> {
    const { client, serverMs } = this.#options;
    if (client.status !== "ready") throw new Error(`no connection to Redis (${client.status})`);
    // Most callers have no limits: a read of their words costs Redis a fortieth of the script.
    if (parts.every(({ words }) => words !== undefined))
      return comparisons(parts, (await client.call("MGET", ...keys)) as readonly unknown[]);
    const rest = [keys.length, ...keys, serverMs(), ...args];
    try {
      return (await client.call("EVALSHA", SCRIPT_SHA, ...rest)) as readonly Answer[];
    } catch (error) {
      // The one refusal after which nothing was done: the server does not know the script yet.
      if (!(error instanceof Error && error.message.startsWith("NOSCRIPT"))) throw error;
      return (await client.call("EVAL", SCRIPT, ...rest)) as readonly Answer[];
    }
  }
}

/** What the script would have answered to each part. */
function comparisons(parts: readonly Part[], found: readonly unknown[]): readonly Answer[] {
  let at = 0;
  return parts.map(({ words = [] }) => {
    let isSame = true;
    for (const word of words) isSame = found[at++] === word && isSame;
    return isSame ? ADMITTED : CHANGED;
  });
}

/** An answer that waits in the socket while this process was busy is read before it is called late. */
function unlessAnswered(waitMs: number, late: () => void): NodeJS.Timeout {
  return setTimeout(() => setImmediate(late), waitMs);
}
