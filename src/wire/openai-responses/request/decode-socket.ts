/** What the messages of a client ask that speaks over a WebSocket. */
import { scanBody } from "../../json/body.js";
import { JsonCursor } from "../../json/cursor.js";
import { wrongValue } from "../../json/node.js";
import { splice } from "../../json/splice.js";
import { parsed } from "../../json/value.js";
import type { GatewayError } from "../../../base/errors.js";

const CREATE = "response.create";

/** Messages that only tell something, of which nothing follows. */
const TOLD: ReadonlySet<string> = new Set(["response.processed"]);

/** Members of a message that are no members of a body. */
const OF_THE_MESSAGE = ["type", "generate", "previous_response_id", "stream_id"];

/** A longer value of one of them means nothing, and is not parsed. */
const VALUE_BYTES_MAX = 1_024;

const MEANINGLESS: unknown = {};

const OPEN_ARRAY = 0x5b;

const QUOTE = 0x22;

const NO_BYTES = Buffer.alloc(0);

const OPEN = Buffer.from("[");

const CLOSE = Buffer.from("]");

const COMMA = Buffer.from(",");

/** What the next message may go on from. */
export interface Turn {
  /** The response's id. */
  readonly id: string;
  /** All that was said and answered so far: items as JSON, with commas between. */
  readonly items: Buffer;
}

/** What one message asks. */
export interface SocketRequest {
  /** The body as it would have come over HTTP, with all that was said before. */
  readonly body: Buffer;
  /** All that was said so far: items as JSON, with commas between; undefined where the body has no readable input. */
  readonly said: Buffer | undefined;
  /** False where the client only prepares for its next request. */
  readonly generates: boolean;
  /** True where it goes on from the last response of the connection. */
  readonly continuesLast: boolean;
}

/**
 * Reads a message; undefined where it asks for nothing. Throws BODY_INVALID, or PARAMETER_INVALID where it goes on from
 * another response than the last one.
 */
export function readMessage(message: Buffer, turn: Turn | undefined): SocketRequest | undefined {
  const values = new Map<string, unknown>();
  const { open, members } = scanBody(message, (json, key) => {
    if (OF_THE_MESSAGE.includes(key)) values.set(key, valueOf(json));
    else json.skip();
    return undefined;
  });
  const type = values.get("type");
  if (typeof type === "string" && TOLD.has(type)) return undefined;
  if (type !== CREATE) throw wrongValue("type", `the one event that clients send is '${CREATE}'`);
  const refusal = refusalOf(values, turn);
  if (refusal !== undefined) throw refusal;
  const isNext = isNamed(values.get("previous_response_id"));
  const input = members.find(({ key }) => key === "input");
  const own = input === undefined ? NO_BYTES : itemsIn(message.subarray(input.valueStart, input.end));
  const said = own === undefined || !isNext || turn === undefined ? own : joined([turn.items, own]);
  const edits = new Map<string, Buffer | string | undefined>();
  for (const key of OF_THE_MESSAGE) if (values.has(key)) edits.set(key, undefined);
  edits.set("stream", "true");
  if (isNext && said !== undefined) edits.set("input", Buffer.concat([OPEN, said, CLOSE]));
  const body = splice(message, open, members, edits);
  return { body, said, generates: values.get("generate") !== false, continuesLast: isNext };
}

function valueOf(json: JsonCursor): unknown {
  const start = json.at;
  json.skip();
  if (json.at - start > VALUE_BYTES_MAX) return MEANINGLESS;
  return parsed(json.bytes.toString("utf8", start, json.at));
}

function isNamed(previousId: unknown): boolean {
  return previousId !== undefined && previousId !== null;
}

function refusalOf(values: ReadonlyMap<string, unknown>, turn: Turn | undefined): GatewayError | undefined {
  const generate = values.get("generate");
  if (generate !== undefined && generate !== null && typeof generate !== "boolean")
    return wrongValue("generate", "it must be true or false");
  const streamId = values.get("stream_id");
  if (streamId !== undefined && streamId !== null)
    return wrongValue("stream_id", "a connection answers one response after the other; open one for each conversation");
  const previousId = values.get("previous_response_id");
  if (!isNamed(previousId) || previousId === turn?.id) return undefined;
  const problem = "it is not the last response of this connection; leave it out and send the whole conversation";
  return wrongValue("previous_response_id", problem, "previous_response_not_found");
}

/** The items of an input, as JSON with commas between; undefined where it is no input. */
function itemsIn(value: Buffer): Buffer | undefined {
  if (value[0] === OPEN_ARRAY) return isBlank(value) ? NO_BYTES : value.subarray(1, -1);
  if (value[0] !== QUOTE) return undefined;
  return Buffer.concat([Buffer.from('{"type":"message","role":"user","content":'), value, Buffer.from("}")]);
}

/** True of a list without items. */
function isBlank(list: Buffer): boolean {
  const cursor = new JsonCursor(list);
  cursor.enterArray();
  return !cursor.nextItem();
}

export function joined(pieces: readonly Buffer[]): Buffer {
  const said = pieces.filter((piece) => piece.length > 0);
  return Buffer.concat(said.flatMap((piece, place) => (place === 0 ? [piece] : [COMMA, piece])));
}
