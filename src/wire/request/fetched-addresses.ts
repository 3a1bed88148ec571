/**
 * Addresses in a request that its upstream would fetch, such as that of a picture. A server of one's own fetches them
 * from within one's network, and some read files of their machine: what comes back is what a stranger asks to see.
 */
import { unsupported } from "../error/refusals.js";
import type { JsonCursor } from "../json/cursor.js";
import { foldedName } from "./folded-name.js";

/** Folded names that end so hold an address, from `image_url` to `fileUri`. */
const ADDRESS_ENDS = ["url", "urls", "uri", "uris"];
/** Members that hold an address, or the bytes themselves. */
const MEDIA: ReadonlySet<string> = new Set(
  ["image", "images", "video", "videos", "audio", "audios"].concat("imagedata", "videodata", "audiodata"),
);
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
  const param = addressIn(cursor, "", false, false);
  if (param === undefined) return;
  const problem =
    "its upstream would fetch the address from the network of whoever runs it; send the content itself, as 'data:...', " +
    "or ask the gateway's operator for 'media_addresses: pass' of that upstream";
  throw unsupported(param.slice(0, PARAM_CHARACTERS_MAX), problem, { model });
}

/** Passes the value that comes next. `mayBeBytes`: of a member that holds bytes as well. */
function addressIn(cursor: JsonCursor, path: string, isAddress: boolean, mayBeBytes: boolean): string | undefined {
  const kind = cursor.kind();
  if (kind === "object") return addressInObject(cursor, path);
  let found: string | undefined;
  if (kind === "array") {
    cursor.enterArray();
    for (let place = 0; cursor.nextItem(); place++)
      found = addressIn(cursor, `${path}[${place}]`, isAddress, mayBeBytes) ?? found;
    return found;
  }
  const start = cursor.at;
  cursor.skip();
  return kind === "string" && isAddress && isFetched(cursor.bytes, start, cursor.at, mayBeBytes) ? path : undefined;
}

function addressInObject(cursor: JsonCursor, path: string): string | undefined {
  let found: string | undefined;
  let called: string | undefined;
  let isCall = false;
  cursor.enterObject();
  for (let key = cursor.nextKey(); key !== undefined; key = cursor.nextKey()) {
    const param = path === "" ? key : `${path}.${key}`;
    if (key === "type") isCall = cursor.headOfString(PARAM_CHARACTERS_MAX).endsWith(CALL.typeEnd);
    if (OWN_WORDS.has(key)) {
      cursor.skip();
      continue;
    }
    const name = foldedName(key);
    const mayBeBytes = MEDIA.has(name);
    const isAddress = mayBeBytes || ADDRESS_ENDS.some((end) => name.endsWith(end));
    const inner = addressIn(cursor, param, isAddress, mayBeBytes);
    if (key === CALL.member) called = inner;
    else found ??= inner;
  }
  return found ?? (isCall ? undefined : called);
}

/** False for what holds the content itself, and for nothing. */
function isFetched(bytes: Buffer, start: number, end: number, mayBeBytes: boolean): boolean {
  if (end - start === 2 || DATA.test(bytes.toString("latin1", start, start + 6))) return false;
  if (!mayBeBytes || end - start < BYTES_CHARACTERS_MIN) return true;
  return !BYTES.test(bytes.toString("latin1", start, end));
}
