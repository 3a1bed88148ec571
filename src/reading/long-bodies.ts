/** Requests whose bodies are too long for the event loop: a thread beside it reads, writes and counts them. */
import type {
  BodyOrder,
  EmbeddingQuestion,
  LongBodies,
  LongBody,
  LongText,
  RequestFacts,
  SourceBody,
  WireRequest,
} from "../wire/wire.js";
import type { Prompt } from "../api/index.js";
import { asBuffer } from "../base/bytes/bytes.js";
import { sharedBytes } from "../base/bytes/shared-bytes.js";
import { TextBytes } from "../base/bytes/sliced-text.js";
import type { Asker } from "../wire/answer/long-answer.js";
import type { SharedSource } from "./protocol.js";
import { keepOutline } from "../wire/request/outline.js";
import { readers } from "./readers.js";
import { askerOf, ReadingThread } from "./reading-thread.js";

/** A body that the thread keeps reading from. */
class ThreadBody implements LongBody {
  /** The ids of the conversation's calls; known once the body was written. */
  callIds: readonly string[] = [];

  constructor(
    private readonly thread: ReadingThread,
    private readonly source: SharedSource,
    private readonly asker: Asker,
    readonly opening: string,
  ) {}

  async write(order: BodyOrder, dropped: string[], unknown: string[] = []): Promise<Buffer> {
    const question = { source: this.source, task: { kind: "write", order } } as const;
    const { value } = await this.thread.ask(question, this.asker, "written");
    this.callIds = value.callIds;
    dropped.push(...value.dropped);
    unknown.push(...value.unknown);
    return asBuffer(value.body);
  }

  async text(): Promise<LongText | undefined> {
    const { value } = await this.thread.ask({ source: this.source, task: { kind: "text" } }, this.asker, "text");
    return value && { messages: value.messages, tokens: value.tokens, text: new TextBytes(value.bytes) };
  }
}

/** Such a request. Its typed form is that of its outline: what was said is only ever written by the thread. */
class LongRequest implements WireRequest {
  readonly embedding?: EmbeddingQuestion | undefined;

  constructor(
    readonly facts: RequestFacts,
    readonly source: SourceBody,
    readonly long: LongBody,
    readonly outline: WireRequest,
  ) {
    if (outline.embedding !== undefined) this.embedding = outline.embedding;
  }

  prompt(): Prompt {
    return this.outline.prompt();
  }
}

/** Reads long bodies with one thread, which starts with the first of them. `waiting` is how many wait for it. */
export function createLongBodies(): LongBodies & { waiting(): number } {
  const thread = new ReadingThread();
  return {
    waiting: () => thread.waiting,
    read: (source, purpose, account) => read(source, purpose, account, thread),
    close: () => thread.close(),
  };
}

async function read(
  { wire, body, headers }: SourceBody,
  purpose: SharedSource["purpose"],
  account: string,
  thread: ReadingThread,
): Promise<WireRequest> {
  const shared = await sharedBytes([body], body.length);
  const source: SharedSource = { wire, body: shared, headers, purpose };
  const asker = askerOf(account);
  const { value } = await thread.ask({ source, task: { kind: "read" } }, asker, "read");
  const outline = { wire, body: asBuffer(value.outline), headers };
  keepOutline(shared, outline.body);
  const reader = readers.get(wire);
  if (reader === undefined) throw new Error(`no wire is called ${wire}`);
  const long = new ThreadBody(thread, source, asker, value.opening);
  let short: WireRequest | undefined;
  const prompt = (): Prompt => (short ??= reader.readRequest(outline, "count")).prompt();
  const { facts, embedding } = value;
  const asked: WireRequest = {
    facts,
    source: outline,
    members: value.outlineMembers,
    prompt,
    embedding: embedding && { ...embedding, inputs: () => [] },
    get callIds() {
      return long.callIds;
    },
  };
  return new LongRequest(facts, { wire, body: shared, headers }, long, asked);
}
