/** The one pass over a body that asks for a ranking: what the gateway must know of it. */
import { GatewayError } from "../../../base/errors.js";
import { meterOf } from "../../../api/meters.js";
import { scanBody } from "../../json/body.js";
import { JSON_NODES_MAX, type JsonCursor } from "../../json/cursor.js";
import { wrongValue } from "../../json/node.js";
import type { Member } from "../../json/splice.js";
import type { Held } from "../../request/held-objects.js";
import { keptId } from "../../request/kept-ids.js";
import { refuseEarlierTurns } from "../../request/members.js";
import { MODEL_CHARACTERS_MAX } from "../../request/request-size.js";
import type { RequestFacts } from "../../wire.js";
import { MEMBERS, OWN_WORDS } from "./members.js";
import { DOCUMENT_TOKENS_DEFAULT, searchUnits } from "./scan-units.js";

/** The most documents of one request: Cohere's own bound. */
const DOCUMENTS_MAX = 10_000;
/** What a model puts around a query and its document. */
const MARK_BYTES = 8;
/** About so many bytes are a token, where nobody counts. */
const TOKEN_BYTES = 4;
/** Members of a document that hold a picture, whose tokens do not follow from its bytes. */
const PICTURES: ReadonlySet<string> = new Set(["image", "image_url", "content"]);

/** A body that was read. */
export interface Scan {
  readonly facts: RequestFacts;
  readonly open: number;
  readonly members: readonly Member[];
  /** The first id of what an upstream keeps. */
  readonly held: Held | undefined;
  /** True where a document is no text. */
  readonly hasObjects: boolean;
  /** About how many tokens the query has. */
  readonly queryTokens: number;
}

interface Found {
  model: string | undefined;
  queryBytes: number | undefined;
  /** Of each document its bytes. */
  documents: number[] | undefined;
  hasObjects: boolean;
  pictureCount: number;
  documentTokensMax: number;
}

/** Throws BODY_INVALID, PARAMETER_INVALID or PARAMETER_MISSING. */
export function scanRequest(body: Buffer): Scan {
  const found: Found = {
    model: undefined,
    queryBytes: undefined,
    documents: undefined,
    hasObjects: false,
    pictureCount: 0,
    documentTokensMax: DOCUMENT_TOKENS_DEFAULT,
  };
  const read = (cursor: JsonCursor, key: string): GatewayError | undefined => {
    const problem = readMember(cursor, key, found);
    return problem === undefined ? undefined : wrongValue(key, problem);
  };
  const { cursor, open, members, refusal } = scanBody(body, read, undefined, JSON_NODES_MAX);
  if (refusal !== undefined) throw refusal;
  refuseEarlierTurns(body, members, MEMBERS);
  const model = required("model", found.model);
  const queryBytes = required("query", found.queryBytes);
  const documents = required("documents", found.documents);
  const facts = factsOf(found, model, queryBytes, documents);
  const { hasObjects } = found;
  const queryTokens = Math.ceil(queryBytes / TOKEN_BYTES);
  return { facts, open, members, held: keptId(cursor, OWN_WORDS), hasObjects, queryTokens };
}

function required<Value>(param: string, value: Value | undefined): Value {
  if (value === undefined) throw new GatewayError("ERROR_REASON_PARAMETER_MISSING", { param });
  return value;
}

/** Nothing is generated. The query is read once more with each document. */
function factsOf(found: Found, model: string, queryBytes: number, documents: readonly number[]): RequestFacts {
  const { pictureCount, documentTokensMax } = found;
  const documentBytes = documents.reduce((sum, bytes) => sum + bytes + MARK_BYTES, 0);
  const unitsMax = searchUnits(queryBytes, documents, documentTokensMax);
  const tokens = documents.map((bytes) => Math.ceil(bytes / TOKEN_BYTES));
  const units = searchUnits(Math.ceil(queryBytes / TOKEN_BYTES), tokens, documentTokensMax);
  return {
    model,
    surface: "rerank",
    stream: false,
    includeUsage: true,
    candidateCount: 1,
    outputTokensMax: 0,
    textBytes: documentBytes + queryBytes * documents.length,
    imageCount: 0,
    fileCount: pictureCount,
    audioCount: 0,
    inputCount: documents.length,
    metersMax: meterOf("search_unit", BigInt(unitsMax)),
    metersExpected: meterOf("search_unit", BigInt(units)),
  };
}

/** Reads the value that comes next, all of it. Returns what is wrong with it. */
function readMember(cursor: JsonCursor, key: string, found: Found): string | undefined {
  const kind = cursor.kind();
  if (kind === "null") return pass(cursor, undefined);
  switch (key) {
    case "model": {
      const must = `it must be a string of 1 to ${MODEL_CHARACTERS_MAX} characters`;
      if (kind !== "string") return pass(cursor, must);
      found.model = cursor.readString();
      return found.model.length > 0 && found.model.length <= MODEL_CHARACTERS_MAX ? undefined : must;
    }
    case "query": {
      const start = cursor.at;
      cursor.skip();
      found.queryBytes = cursor.at - start;
      if (kind !== "string") return `it must be a string, not ${kind}`;
      return found.queryBytes > 2 ? undefined : "it must not be empty";
    }
    case "documents":
      return kind === "array" ? readDocuments(cursor, found) : pass(cursor, "it must be an array of documents");
    case "top_n":
    case "top_k":
      return wholeNumber(cursor) === undefined ? "it must be a whole number of at least 1" : undefined;
    case "max_tokens_per_doc": {
      const most = wholeNumber(cursor);
      if (most !== undefined) found.documentTokensMax = most;
      return most === undefined ? "it must be a whole number of at least 1" : undefined;
    }
    case "return_documents":
      return pass(cursor, kind === "boolean" ? undefined : "it must be true or false");
    default:
      return pass(cursor, undefined);
  }
}

function readDocuments(cursor: JsonCursor, found: Found): string | undefined {
  const documents: number[] = [];
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
    documents.push(cursor.at - start);
  }
  found.documents = documents;
  if (isWrong) return "each document must be a string or an object";
  if (documents.length === 0) return "it must hold at least one document";
  return documents.length > DOCUMENTS_MAX ? `it must hold at most ${DOCUMENTS_MAX} documents` : undefined;
}

/** Passes a document that is an object, and notes whether it may hold a picture. */
function readObject(cursor: JsonCursor, found: Found): void {
  let isPicture = false;
  cursor.enterObject();
  for (let key = cursor.nextKey(); key !== undefined; key = cursor.nextKey()) {
    isPicture ||= PICTURES.has(key);
    cursor.skip();
  }
  if (isPicture) found.pictureCount++;
}

/** Reads a whole number of at least 1; undefined for anything else. */
function wholeNumber(cursor: JsonCursor): number | undefined {
  if (cursor.kind() !== "number") return pass(cursor, undefined);
  const value = cursor.readNumber();
  return Number.isSafeInteger(value) && value >= 1 ? value : undefined;
}

function pass<Result>(cursor: JsonCursor, result: Result): Result {
  cursor.skip();
  return result;
}
