/**
 * Addresses in a request that its upstream would fetch, such as that of a picture. A server of one's own fetches them
 * from within one's network, and some read files of their machine: what comes back is what a stranger asks to see.
 */
import { unsupported } from "../error/refusals.js";
import type { JsonCursor } from "../json/cursor.js";
import { holdsOf, type Holds } from "./address-names.js";

/** Schemas, what tools take and give, and what was found and is told again: text to the model. */
const OWN_WORDS: ReadonlySet<string> = new Set(
  ["parameters", "schema", "json_schema", "input_schema", "guided_json", "structured_outputs", "metadata"].concat([
    "args",
    "response",
    "annotations",
    "citations",
    "url_citation",
    "action",
    "sources",
    "results",
  ]),
);
/** What a tool was called with, in objects of types that end so. */
const CALL = { member: "input", typeEnd: "tool_use" };

/** A shorter text is a path as well as bytes. */
const BYTES_CHARACTERS_MIN = 64;
const BYTES = /^"(?:[A-Za-z0-9+/=_-]|\\\/)*"$/;
const DATA = /^"data:/i;
const PARAM_CHARACTERS_MAX = 128;

/** Throws PARAMETER_UNSUPPORTED for the first address in the body that this cursor is at. */
export function refuseAddresses(cursor: JsonCursor, model: string): void {
  const place = addressIn(cursor, "nothing");
  if (place === undefined) return;
  const problem =
    "its upstream would fetch the address from the network of whoever runs it; send the content itself, as 'data:...', " +
    "or ask the gateway's operator for 'media_addresses: pass' of that upstream";
  throw unsupported(place.slice(1, 1 + PARAM_CHARACTERS_MAX), problem, { model });
}

/** Passes the value that comes next, of a member that holds this. Tells where in it an address is, as `[0].url`. */
function addressIn(cursor: JsonCursor, holds: Holds): string | undefined {
  const kind = cursor.kind();
  if (kind === "object") return addressInObject(cursor);
  if (kind === "array") return addressInArray(cursor, holds);
  const start = cursor.at;
  cursor.skip();
  if (kind !== "string" || holds === "nothing") return undefined;
  return isFetched(cursor.bytes, start, cursor.at, holds) ? "" : undefined;
}

function addressInArray(cursor: JsonCursor, holds: Holds): string | undefined {
  let found: string | undefined;
  cursor.enterArray();
  for (let place = 0; cursor.nextItem(); place++) {
    const inner = addressIn(cursor, holds);
    if (inner !== undefined) found ??= `[${place}]${inner}`;
  }
  return found;
}

function addressInObject(cursor: JsonCursor): string | undefined {
  let found: string | undefined;
  let called: string | undefined;
  let isCall = false;
  cursor.enterObject();
  for (let key = cursor.nextKey(); key !== undefined; key = cursor.nextKey()) {
    if (key === "type") isCall = cursor.headOfString(PARAM_CHARACTERS_MAX).endsWith(CALL.typeEnd);
    if (OWN_WORDS.has(key)) {
      cursor.skip();
      continue;
    }
    const inner = addressIn(cursor, holdsOf(key));
    if (inner === undefined) continue;
    if (key === CALL.member) called = `.${key}${inner}`;
    else found ??= `.${key}${inner}`;
  }
  return found ?? (isCall ? undefined : called);
}

/** False for what holds the content itself, and for nothing. */
function isFetched(bytes: Buffer, start: number, end: number, holds: Holds): boolean {
  if (end - start === 2 || DATA.test(bytes.toString("latin1", start, start + 6))) return false;
  if (holds === "address" || end - start < BYTES_CHARACTERS_MIN) return true;
  return !BYTES.test(bytes.toString("latin1", start, end));
}
