/**
 * Entries of `reasoning_details`, between an upstream that wants them back as they were and the clients of all wires.
 *
 * Other wires keep the text of a thought and one opaque text that proves it. An entry of OpenRouter's default format,
 * which is Anthropic's, is no more than that. Of any other format its id, format, index and kind must come back too:
 * they travel in the opaque text, behind a mark that no other proof begins with.
 */
import type { Part } from "../../../api/index.js";
import { type JsonObject, objectOf, parsed, placeOf, textOf } from "../../json/value.js";
import { partOf } from "../../request/part.js";

const MARK = "detail:";
const TEXT = "reasoning.text";
const SUMMARY = "reasoning.summary";
const ENCRYPTED = "reasoning.encrypted";
/** What an entry is of that names no format: openrouter.ai/docs, reasoning tokens. */
const DEFAULT_FORMAT = "anthropic-claude-v1";
/** An id and a format that are longer, and a place that is later, are none. */
const NAME_CHARACTERS_MAX = 512;
const INDEX_MAX = 1_000_000;

/** One entry, or what came of it so far. */
export interface Detail {
  readonly type: typeof TEXT | typeof SUMMARY | typeof ENCRYPTED;
  readonly text: string;
  /** Its signature, or its data where only the upstream can read it. Empty: none. */
  readonly proof: string;
  readonly id: string | undefined;
  readonly format: string | undefined;
  readonly index: number | undefined;
}

/** Reads an entry, or a piece of one. A kind that is not known is read for its text. */
export function readDetail(entry: JsonObject): Detail {
  const type = entry["type"] === SUMMARY || entry["type"] === ENCRYPTED ? entry["type"] : TEXT;
  return {
    type,
    text: type === ENCRYPTED ? "" : textOf(entry["text"]) || textOf(entry["summary"]),
    proof: textOf(entry[type === ENCRYPTED ? "data" : "signature"]),
    id: nameOf(entry["id"]),
    format: nameOf(entry["format"]),
    index: placeOf(entry["index"], INDEX_MAX),
  };
}

function nameOf(value: unknown): string | undefined {
  const name = textOf(value);
  return name === "" || name.length > NAME_CHARACTERS_MAX ? undefined : name;
}

/** True where other wires have a place for all that the entry says. */
export function isPlain({ type, format = DEFAULT_FORMAT }: Detail): boolean {
  return format === DEFAULT_FORMAT && type !== SUMMARY;
}

/** True where the next piece is of the same entry. A proof ends one. */
export function continuesDetail(open: Detail, next: Detail): boolean {
  if (open.proof !== "" || next.type === ENCRYPTED) return false;
  if (isPlain(open)) return isPlain(next);
  return (
    open.type === next.type &&
    open.format === next.format &&
    (open.index ?? next.index) === (next.index ?? open.index) &&
    (open.id ?? next.id) === (next.id ?? open.id)
  );
}

export function joined(open: Detail, next: Detail): Detail {
  const { id = next.id, index = next.index } = open;
  return { ...open, id, index, text: open.text + next.text, proof: next.proof };
}

/** The opaque text that comes back with the entry; undefined where there is nothing to bring back. */
export function encodeProof(detail: Detail): string | undefined {
  const { text: _, ...rest } = detail;
  return isPlain(detail) ? detail.proof || undefined : MARK + JSON.stringify(rest);
}

/** The entry of a text and of the opaque text beside it. What a client altered beyond reading has no proof. */
function decodeProof(type: Detail["type"], text: string, opaque: string): Detail {
  const bare: Detail = { type, text, proof: "", id: undefined, format: undefined, index: undefined };
  if (!opaque.startsWith(MARK)) return { ...bare, proof: opaque };
  const kept = objectOf(parsed(opaque.slice(MARK.length)));
  if (kept === undefined) return bare;
  const proof = textOf(kept["proof"]);
  const detail = readDetail({ ...kept, data: proof, signature: proof });
  return (detail.type === ENCRYPTED) === (type === ENCRYPTED) ? { ...detail, text } : bare;
}

/** The part that an entry is; undefined of one that says nothing. */
export function partOfDetail(detail: Detail): Part | undefined {
  const { type, text, proof } = detail;
  const signature = encodeProof(detail);
  if (text === "" && proof === "") return undefined;
  if (type === ENCRYPTED) return partOf({ $case: "redactedThinking", value: { data: signature ?? "" } });
  return partOf({ $case: "thinking", value: { text, signature } });
}

/** The entry that a part was, or would be; undefined of a part that is no thought, and of one that says nothing. */
export function detailOfPart({ kind }: Part): Detail | undefined {
  if (kind?.$case === "thinking") return decodeProof(TEXT, kind.value.text, kind.value.signature ?? "");
  if (kind?.$case !== "redactedThinking") return undefined;
  const detail = decodeProof(ENCRYPTED, "", kind.value.data);
  return detail.proof === "" ? undefined : detail;
}

/** The entry as it stands in `reasoning_details`. */
export function detailJson({ type, text, proof, id, format, index }: Detail): JsonObject {
  const said = type === ENCRYPTED ? { data: proof } : { [type === SUMMARY ? "summary" : "text"]: text };
  const signature = type === ENCRYPTED || proof === "" ? undefined : proof;
  return { type, ...said, signature, id, format, index };
}
