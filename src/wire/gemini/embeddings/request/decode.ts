/** Requests for vectors from Google's clients: one content or a batch of them. */
import { GatewayError } from "../../../../base/errors.js";
import { MODEL_CHARACTERS_MAX } from "../../../request/request-size.js";
import { JsonCursor } from "../../../json/cursor.js";
import { readMembers } from "../../../json/splice.js";
import { refuseEarlierTurns } from "../../../request/members.js";
import { MEMBERS } from "./members.js";
import { readTree, wrongValue } from "../../../json/node.js";
import { INPUTS_MAX, readOnlyFacts, markedBytes, noPrompt } from "../../../request/read-only.js";
import type { EmbeddingQuestion, RequestFacts, SourceBody, WireRequest } from "../../../wire.js";
import { ProtoReader } from "../../request/decode-object.js";
import { PATH_MODEL_HEADER } from "../../facts.js";

/** One text, and what else is said of it. */
export interface EmbeddingText {
  readonly text: string;
  readonly taskType: string | undefined;
  readonly title: string | undefined;
}

/** What only Google's models are told of a text. */
const GOOGLES_OWN = ["taskType", "title"] as const;

/** A request of this wire. */
export class GeminiEmbeddingRequest implements WireRequest, EmbeddingQuestion {
  readonly encoding = "float";
  readonly facts: RequestFacts;

  constructor(
    readonly source: SourceBody,
    model: string,
    readonly texts: readonly EmbeddingText[],
    readonly dimensions: number | undefined,
    /** True where the client wants a list, even of one. */
    readonly isBatch: boolean,
  ) {
    const words = texts.flatMap((told) => GOOGLES_OWN.map((name) => told[name] ?? ""));
    const wordBytes = words.reduce((sum, word) => sum + Buffer.byteLength(word), 0);
    this.facts = readOnlyFacts(model, markedBytes(this.inputs()) + wordBytes, texts.length);
  }

  get embedding(): EmbeddingQuestion {
    return this;
  }

  inputs(): readonly string[] {
    return this.texts.map(({ text }) => text);
  }

  /** A title is read with its text; of tasks there is a list, and they are no text. */
  beside(): readonly string[] {
    return this.texts.flatMap(({ title }) => title ?? []);
  }

  prompt(): never {
    return noPrompt();
  }

  checkForeign(_model: string, dropped: string[] = []): void {
    for (const name of GOOGLES_OWN) if (this.texts.some((told) => told[name] !== undefined)) dropped.push(name);
  }
}

/** Reads a client's body. Throws BODY_INVALID, PARAMETER_INVALID or PARAMETER_MISSING. */
export function readRequest(source: SourceBody): GeminiEmbeddingRequest {
  const model = source.headers[PATH_MODEL_HEADER] ?? "";
  if (model === "") throw new GatewayError("ERROR_REASON_PARAMETER_MISSING", { param: "model" });
  if (model.length > MODEL_CHARACTERS_MAX)
    throw wrongValue("model", `it must be a string of 1 to ${MODEL_CHARACTERS_MAX} characters`);
  const root = readTree(source.body);
  if (root.kind === "object") refuseEarlierTurns(source.body, readMembers(new JsonCursor(source.body)), MEMBERS);
  const reader = new ProtoReader(root, "");
  const isBatch = reader.peek("requests") !== undefined;
  const requests = isBatch ? reader.objects("requests") : [reader];
  if (requests.length === 0) throw wrongValue("requests", "it must hold at least one request");
  if (requests.length > INPUTS_MAX) throw wrongValue("requests", `it must hold at most ${INPUTS_MAX} requests`);
  const asked = requests.map(readOne);
  const dimensions = asked[0]?.dimensions;
  const place = asked.findIndex((one) => one.dimensions !== dimensions);
  if (place !== -1)
    throw wrongValue(`requests[${place}].outputDimensionality`, "it must be the same in all requests of a batch");
  return new GeminiEmbeddingRequest(source, model, asked, dimensions, isBatch);
}

function readOne(reader: ProtoReader): EmbeddingText & { readonly dimensions: number | undefined } {
  const dimensions = reader.whole("outputDimensionality");
  if (dimensions === 0) throw wrongValue(reader.pathOf("outputDimensionality"), "it must be at least 1");
  return { text: readContent(reader), taskType: reader.text("taskType"), title: reader.text("title"), dimensions };
}

/** The texts of a content, which are one input. */
function readContent(reader: ProtoReader): string {
  const content = reader.value("content");
  if (content === undefined) return reader.missing("content");
  if (content.kind === "string") return content.text;
  const inner = new ProtoReader(content, reader.pathOf("content"));
  const parts = inner.objects("parts");
  if (parts.length === 0) return inner.missing("parts");
  return parts.map((part) => part.text("text") ?? notText(part)).join("");
}

function notText(part: ProtoReader): never {
  throw wrongValue(part.pathOf("text"), "only texts are turned into vectors");
}
