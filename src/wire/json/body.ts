/** The one pass over a client's body: its top level, of which each member is seen, and none twice. */
import type { GatewayError } from "../../base/errors.js";
import { BODY_NODES_MAX, invalid, JsonCursor } from "./cursor.js";
import { claimKey, type Member } from "./splice.js";

/** No wire has more than a hundred fields of its own. */
const BODY_MEMBERS_MAX = 1_000;

/** A body whose bytes were all looked at. */
interface ScannedBody {
  /** At the end of the bytes. */
  readonly cursor: JsonCursor;
  /** The place of the first brace. */
  readonly open: number;
  readonly members: readonly Member[];
  /** The first that `read` refused. It waited for the end: a body that is no JSON at all is told so first. */
  readonly refusal: GatewayError | undefined;
}

/**
 * `read` passes the value of one member, by its name, and says what is wrong with it; `nameOf` tells the name of a key
 * where a wire has several spellings. Throws BODY_INVALID.
 */
export function scanBody(
  body: Buffer,
  read: (cursor: JsonCursor, name: string) => GatewayError | undefined,
  nameOf: (key: string) => string = itself,
  nodesMax = BODY_NODES_MAX,
): ScannedBody {
  if (body.length === 0) throw invalid("it is empty");
  const cursor = new JsonCursor(body, nodesMax);
  if (cursor.kind() !== "object") throw invalid("no JSON object");
  const open = cursor.at;
  const members: Member[] = [];
  const names = new Set<string>();
  let refusal: GatewayError | undefined;
  cursor.enterObject();
  for (let key = cursor.nextKey(); key !== undefined; key = cursor.nextKey()) {
    const name = nameOf(key);
    claimKey(names, name);
    if (members.length === BODY_MEMBERS_MAX) throw invalid(`it has more than ${BODY_MEMBERS_MAX} members; send fewer`);
    const start = cursor.memberStart;
    const valueStart = cursor.at;
    const problem = read(cursor, name);
    refusal ??= problem;
    members.push({ key, start, valueStart, end: cursor.at });
  }
  cursor.finish();
  return { cursor, open, members, refusal };
}

function itself(key: string): string {
  return key;
}
