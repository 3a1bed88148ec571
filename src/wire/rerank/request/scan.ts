/** The one pass over a body that asks for a ranking: what the gateway must know of it. */
import { isAscii } from "node:buffer";
import type { GatewayError } from "../../../base/errors.js";
import { meterOf } from "../../../api/meters.js";
import type { JsonCursor } from "../../json/cursor.js";
import {
  anything,
  checkField,
  type FieldChecks,
  type FieldValue,
  FLAG,
  integer,
  MODEL,
  requireFields,
  TEXT,
} from "../../json/field.js";
import type { Member } from "../../json/splice.js";
import { wrongValue } from "../../json/node.js";
import { holdsOf } from "../../request/address-names.js";
import { besideInput, besideSize, readOnlyFacts, type ReadOnlyMembers, scanReadOnly } from "../../request/read-only.js";
import type { RequestFacts } from "../../wire.js";
import { MEMBERS, NOT_READ, OWN_WORDS } from "./members.js";
import { searchUnits, searchUnitsMax } from "./scan-units.js";

/** The most documents of one request: Cohere's own bound. */
const DOCUMENTS_MAX = 10_000;
/** The most tokens of the template around a query and its document: Qwen3's has about 90. */
const TEMPLATE_TOKENS_MAX = 128;
/** A text of nothing: its two quotes. */
const EMPTY_BYTES = 2;
const FIELDS: FieldChecks = new Map([
  ["model", MODEL],
  ["query", TEXT],
  ["documents", { kinds: ["array"], must: "an array of documents", read: anything }],
  ["top_n", integer(1)],
  ["top_k", integer(1)],
  ["max_tokens_per_doc", integer(1)],
  ["max_chunks_per_doc", integer(1)],
  ["return_documents", FLAG],
]);

/** A body that was read. */
export interface Scan extends ReadOnlyMembers {
  readonly facts: RequestFacts;
  /** True where a document is no text. */
  readonly hasObjects: boolean;
  /** About how many tokens the query has, with what is read beside it. */
  readonly queryTokens: number;
  /** What stands beside query and documents, and may be read with each of them. */
  readonly beside: readonly Member[];
}

interface Found {
  queryBytes: number;
  queryStart: number;
  documents: readonly DocumentSize[];
  hasObjects: boolean;
  pictureCount: number;
}

interface DocumentSize {
  readonly bytes: number;
  /** About how many, and at most. */
  readonly tokens: number;
  readonly tokensMax: number;
}

/** Throws BODY_INVALID, PARAMETER_INVALID or PARAMETER_MISSING. */
export function scanRequest(body: Buffer): Scan {
  const found: Found = { queryBytes: 0, queryStart: 0, documents: [], hasObjects: false, pictureCount: 0 };
  const values = new Map<string, FieldValue>();
  const scanned = scanReadOnly(body, MEMBERS, OWN_WORDS, (cursor, key) => {
    const start = cursor.at;
    if (key === "documents" && cursor.kind() === "array") {
      values.set(key, true);
      return refused(key, readDocuments(body, cursor, found));
    }
    const isQuery = key === "query" && cursor.kind() === "string";
    const problem = checkField(FIELDS, cursor, key, values);
    if (!isQuery) return problem;
    found.queryStart = start;
    found.queryBytes = cursor.at - start;
    return refused(key, found.queryBytes > EMPTY_BYTES ? undefined : "it must not be empty");
  });
  requireFields(values, ["model", "query", "documents"]);
  const { hasObjects, queryStart, queryBytes } = found;
  const beside = besideInput(body, scanned.members, NOT_READ);
  const size = besideSize(body, beside);
  const tokensOf = (start: number, end: number): number => aboutTokens(body.subarray(start, end));
  let queryTokens = tokensOf(queryStart, queryStart + queryBytes);
  for (const { valueStart, end } of beside) queryTokens += tokensOf(valueStart, end);
  return { ...scanned, facts: factsOf(found, queryTokens, size, values), hasObjects, queryTokens, beside };
}

function refused(key: string, problem: string | undefined): GatewayError | undefined {
  return problem === undefined ? undefined : wrongValue(key, problem);
}

/** Nothing is generated. The query is read once more with each document. */
function factsOf(
  { queryBytes: bytes, queryStart: start, documents, pictureCount }: Found,
  queryTokens: number,
  beside: ReturnType<typeof besideSize>,
  values: ReadonlyMap<string, FieldValue>,
): RequestFacts {
  const limits = { tokens: limitIn(values, "max_tokens_per_doc"), pieces: limitIn(values, "max_chunks_per_doc") };
  const documentBytes = documents.reduce((sum, document) => sum + document.bytes + TEMPLATE_TOKENS_MAX, 0);
  const unitsMax = searchUnitsMax({ query: bytes, documents: documents.map(({ tokensMax }) => tokensMax) }, limits);
  const units = searchUnits({ query: queryTokens, documents: documents.map(({ tokens }) => tokens) }, limits);
  // What says how documents are to be read may be read with each of them, as the query is.
  const textBytes = documentBytes + (bytes + beside.bytes) * documents.length;
  return {
    ...readOnlyFacts(String(values.get("model")), textBytes, documents.length, pictureCount + beside.fileCount),
    surface: "rerank",
    repeated: { start, end: start + bytes, times: documents.length - 1 },
    metersMax: meterOf("search_unit", BigInt(unitsMax)),
    metersExpected: meterOf("search_unit", BigInt(units)),
  };
}

function limitIn(values: ReadonlyMap<string, FieldValue>, key: string): number | undefined {
  const value = values.get(key);
  return typeof value === "number" ? value : undefined;
}

/** About so many bytes are a token, where nobody counts: of plain ASCII, and of other signs. */
const TOKEN_BYTES = 4;
const SIGN_BYTES = 2;

function aboutTokens(text: Buffer): number {
  let signBytes = 0;
  if (!isAscii(text)) for (const byte of text) if (byte > 0x7f) signBytes++;
  return Math.ceil((text.length - signBytes) / TOKEN_BYTES + signBytes / SIGN_BYTES);
}

/** A byte of a sign beyond ASCII may become so many tokens, where a tokenizer first spells the sign out. */
const SIGN_TOKENS_MAX = 11;

function mostTokens(text: Buffer): number {
  return isAscii(text) ? text.length : text.length * SIGN_TOKENS_MAX;
}

function readDocuments(body: Buffer, cursor: JsonCursor, found: Found): string | undefined {
  const documents: DocumentSize[] = [];
  let isWrong = false;
  cursor.enterArray();
  while (cursor.nextItem()) {
    const start = cursor.at;
    const kind = cursor.kind();
    if (kind === "object") {
      found.hasObjects = true;
      readObject(cursor, found);
    } else {
      isWrong ||= kind !== "string";
      cursor.skip();
    }
    const text = body.subarray(start, cursor.at);
    documents.push({ bytes: text.length, tokens: aboutTokens(text), tokensMax: mostTokens(text) });
  }
  found.documents = documents;
  if (isWrong) return "each document must be a string or an object";
  if (documents.length === 0) return "it must hold at least one document";
  return documents.length > DOCUMENTS_MAX ? `it must hold at most ${DOCUMENTS_MAX} documents` : undefined;
}

/** Passes a document that is an object, and notes whether it may hold a picture or a film. */
function readObject(cursor: JsonCursor, found: Found): void {
  let isPicture = false;
  cursor.enterObject();
  for (let key = cursor.nextKey(); key !== undefined; key = cursor.nextKey()) {
    isPicture ||= key === "content" || holdsOf(key) !== "nothing";
    cursor.skip();
  }
  if (isPicture) found.pictureCount++;
}
