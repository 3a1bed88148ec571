/** Whole answers that are too long for the event loop: what they are read by, and what is known then. */
import type { Embedding, Event, Finish } from "../../api/index.js";
import type { AnswerForm, AnswerReport, BodyOrder, EmbeddingQuestion, RequestFacts, SourceBody } from "../wire.js";

/** What a whole answer is read by. All of it can cross to another thread. */
export interface AnswerOrder {
  /** The name of the target's family. */
  readonly family: string;
  /** What the model was asked for; its family may have an address of its own for that. */
  readonly kind: BodyOrder["kind"];
  readonly form: AnswerForm;
  /** True where its steps are to be told; else they are only read, to know that they can be. */
  readonly tellsSteps: boolean;
  /** The name that it tells as its model; undefined leaves the upstream's own. */
  readonly toldModel: string | undefined;
  readonly facts: RequestFacts;
  /** What the client asked: its own body, or the typed form as bytes. */
  readonly asked: SourceBody;
  /** The ids of the conversation's calls, where that lacks what was said. */
  readonly callIds?: readonly string[] | undefined;
  readonly embedding: Pick<EmbeddingQuestion, "encoding" | "dimensions"> | undefined;
}

/** Who waits for what a thread does: the accounts take turns. */
export interface Asker {
  readonly account: string;
  /** When its request is over, on the monotonic clock: nothing is read or written for it after that. */
  readonly endMs: number;
}

/** A long answer that is written for its client once it is settled. */
export interface UnwrittenAnswer {
  /**
   * The body that tells it to a client of the wire. Rejects with UPSTREAM_FAILED, with OVERLOADED, or with
   * UPSTREAM_TIMEOUT where its request is over.
   */
  write(wire: string, finish: Finish, createTime: Date): Promise<Buffer>;
}

/** The steps of a stream that is taken as one answer. */
export interface GatheredAnswer {
  /** Messages of steps, one behind the other, in memory that threads share. */
  readonly steps: Buffer;
  /** How long each of them is. */
  readonly lengths: readonly number[];
  /** What the client asked: its own body, or the typed form as bytes. */
  readonly asked: SourceBody;
}

/** A whole answer that is too long for the event loop, read beside it. */
export interface ReadAnswer extends UnwrittenAnswer {
  readonly report: AnswerReport;
  /** The wire's own bytes, as they came or fitted. */
  readonly source: Buffer;
  /** Its steps, where they were to be told: each takes some of them, and none is long. */
  readonly steps: Iterable<Event[]>;
  readonly embeddings: readonly Embedding[] | undefined;
}

/** Reads long answers. */
export interface LongAnswers {
  /**
   * Reads a body in memory that threads share. Rejects with what the wire throws, with UPSTREAM_FAILED where reading
   * takes too much or too long, with OVERLOADED, or with UPSTREAM_TIMEOUT where its request is over.
   */
  read(body: Buffer, order: AnswerOrder, asker: Asker): Promise<ReadAnswer>;
  /** What was read as a stream, to be written as one answer. */
  gathered(answer: GatheredAnswer, asker: Asker): UnwrittenAnswer;
  close(): Promise<void>;
}
