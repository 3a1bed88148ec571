/** What requests that generate nothing have in common, whether they ask for vectors or for a surface. */
import assert from "node:assert/strict";
import type { GatewayError } from "../../base/errors.js";
import { scanBody } from "../json/body.js";
import { JSON_NODES_MAX, type JsonCursor } from "../json/cursor.js";
import type { Member } from "../json/splice.js";
import { parsed, textOf } from "../json/value.js";
import type { RequestFacts, SourceBody, WireRequest } from "../wire.js";
import type { Held } from "./held-objects.js";
import { keptId, type OwnWords } from "./kept-ids.js";
import { type MemberTable, refuseEarlierTurns } from "./members.js";

/** The most inputs of one request: OpenAI's own bound. */
export const INPUTS_MAX = 2_048;

/** What a model puts around each input: no tokenizer makes more tokens of so many bytes. */
export const MARK_BYTES = 2;

/** The bytes of texts, with the marks around each. */
export function markedBytes(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text) + MARK_BYTES, 0);
}

/**
 * Nothing is generated, and nothing streams. `textBytes` are of all that its upstream may read; `fileCount` counts what
 * may hold more than its bytes.
 */
export function readOnlyFacts(model: string, textBytes: number, inputCount: number, fileCount = 0): RequestFacts {
  return {
    model,
    stream: false,
    includeUsage: true,
    candidateCount: 1,
    outputTokensMax: 0,
    textBytes,
    imageCount: 0,
    fileCount,
    audioCount: 0,
    inputCount,
  };
}

/** How values begin that may hold a text. */
const TEXT_STARTS = Buffer.from('"{[');
const QUOTE = 0x22;
/** A text that names where a picture lies, or holds it. */
const ADDRESS = /^\s*(data:|[a-z][a-z0-9+.-]*:\/\/)/i;

/**
 * The members of a body that was scanned in which texts may stand beside its input: some upstreams read a chat in the
 * input's place, or how it is to be read, and read that again with each input. `own` are the members of the wire that
 * no model reads so.
 */
export function besideInput(body: Buffer, members: readonly Member[], own: ReadonlySet<string>): readonly Member[] {
  return members.filter(({ key, valueStart }) => TEXT_STARTS.includes(body[valueStart] ?? 0) && !own.has(key));
}

/** Their bytes together, and in how many of them a picture may stand. */
export function besideSize(
  body: Buffer,
  beside: readonly Member[],
): { readonly bytes: number; readonly fileCount: number } {
  let [bytes, fileCount] = [0, 0];
  for (const { valueStart, end } of beside) {
    bytes += end - valueStart;
    const isText = body[valueStart] === QUOTE;
    if (!isText || ADDRESS.test(textOf(parsed(body.toString("utf8", valueStart, end))))) fileCount++;
  }
  return { bytes, fileCount };
}

/** In place of the typed prompt: whoever asks for that took the request for another. */
export function noPrompt(): never {
  assert.fail("a request that generates nothing has no prompt");
}

/** The members of a body that was read. */
export interface ReadOnlyMembers {
  /** The place of its first brace. */
  readonly open: number;
  readonly members: readonly Member[];
  /** The first id of what an upstream keeps. */
  readonly held: Held | undefined;
}

/** Passes over a body once. `read` passes each value and says what is wrong. Throws that, or BODY_INVALID. */
export function scanReadOnly(
  body: Buffer,
  table: MemberTable,
  words: OwnWords,
  read: (cursor: JsonCursor, key: string) => GatewayError | undefined,
): ReadOnlyMembers {
  const { cursor, open, members, refusal } = scanBody(body, read, undefined, JSON_NODES_MAX);
  if (refusal !== undefined) throw refusal;
  refuseEarlierTurns(body, members, table);
  return { open, members, held: keptId(cursor, words) };
}

/** A client's request that was scanned. */
export abstract class ReadOnlyRequest<
  Scan extends ReadOnlyMembers & { readonly facts: RequestFacts },
> implements WireRequest {
  constructor(
    readonly source: SourceBody,
    readonly scan: Scan,
  ) {}

  get facts(): RequestFacts {
    return this.scan.facts;
  }

  get members(): readonly Member[] {
    return this.scan.members;
  }

  get held(): Held | undefined {
    return this.scan.held;
  }

  prompt(): never {
    return noPrompt();
  }
}
