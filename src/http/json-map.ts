/** Between JSON over HTTP and the messages of the protocol, for any method, read off its descriptor. */
import { JSON_DEPTH_MAX } from "../base/bytes/json-depth.js";
import {
  create,
  type DescField,
  type DescMethod,
  fromJson,
  type JsonObject,
  type JsonValue,
  ScalarType,
  toBinary,
} from "@bufbuild/protobuf";
import { answerBytesToJson } from "../api/json.js";
import { GatewayError } from "../base/errors.js";
import { writeMask } from "./field-mask.js";
import { checkMessage, isRecord, refuse } from "./json-check.js";
import { takeMoney } from "./json-money.js";

const [QUOTE, BACKSLASH, OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET, COMMA] = Buffer.from('"\\{}[],');
/** Values of a body, those within others among them: each is checked on the event loop. */
const VALUES_MAX = 16_384;

export interface HttpInput {
  /** The fields that the path names, decoded. */
  readonly path: Readonly<Record<string, string>>;
  /** As parsed: a repeated parameter is an array. */
  readonly query: unknown;
  /** Undefined where the method takes no body. */
  readonly body: Buffer | undefined;
}

/** The request's protobuf bytes. Throws BODY_INVALID or PARAMETER_INVALID, which names the field. */
export function requestBytes(desc: DescMethod, input: HttpInput): Buffer {
  const { input: message } = desc;
  if (input.body !== undefined && Object.keys(asRecord(input.query)).length > 0) {
    refuse(Object.keys(asRecord(input.query))[0] ?? "query", "send it in the body, not in the query");
  }
  const json = input.body === undefined ? queryJson(desc, input.query) : bodyJson(input.body);
  checkMessage(message, json);
  takeMoney(message, json);
  for (const [name, value] of Object.entries(input.path)) {
    const field = message.fields.find((field) => field.name === name);
    const given = json[name] ?? json[field?.jsonName ?? name] ?? undefined;
    if (given !== undefined && given !== value) refuse(name, "differs from the path");
    // The path wins, also over the field's other name, which would be a second value.
    if (field !== undefined) delete json[field.jsonName];
    json[name] = value;
  }
  if (input.body !== undefined) writeMask(message, json);
  return Buffer.from(toBinary(message, readJson(desc, json)));
}

/** The answer as JSON text: the proto's field names, every field of a message, 64-bit integers as strings. */
export function responseJson(desc: DescMethod, bytes: Buffer): string {
  return JSON.stringify(answerBytesToJson(desc, bytes));
}

function readJson(desc: DescMethod, json: JsonObject): ReturnType<typeof create> {
  try {
    return fromJson(desc.input, json);
  } catch (error) {
    // The check before let it pass, so it has no field to name.
    throw new GatewayError(
      "ERROR_REASON_BODY_INVALID",
      { problem: "a value does not fit its field" },
      { cause: error },
    );
  }
}

function bodyJson(body: Buffer): JsonObject {
  if (body.length === 0) return {};
  const json = parse(body);
  return isObject(json) ? json : refuseBody("it must be a JSON object");
}

function parse(body: Buffer): JsonValue {
  checkShape(body);
  try {
    const json: JsonValue = JSON.parse(body.toString("utf8"));
    return json;
  } catch (error) {
    throw new GatewayError("ERROR_REASON_BODY_INVALID", { problem: "it is not valid JSON" }, { cause: error });
  }
}

/** Looked at before the body is parsed: what is nested without end, or holds values without end, would take seconds. */
function checkShape(body: Buffer): void {
  let [depth, valueCount] = [0, 1];
  let inString = false;
  for (let at = 0; at < body.length; at++) {
    const byte = body[at];
    if (byte === BACKSLASH && inString) at++;
    else if (byte === QUOTE) inString = !inString;
    else if (inString) continue;
    else if (byte === COMMA) valueCount++;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth--;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth++;
      valueCount++;
    }
    if (depth > JSON_DEPTH_MAX) refuseBody(`it is nested more than ${JSON_DEPTH_MAX} deep`);
    if (valueCount > VALUES_MAX) refuseBody(`it holds more than ${VALUES_MAX} values; send fewer`);
  }
}

function refuseBody(problem: string): never {
  throw new GatewayError("ERROR_REASON_BODY_INVALID", { problem });
}

function isObject(value: JsonValue): value is JsonObject {
  return isRecord(value);
}

/** A query as the JSON that it stands for: the types of the fields say what the texts mean. */
function queryJson(desc: DescMethod, query: unknown): JsonObject {
  // Without a prototype, so that no name means more than its value.
  const json: JsonObject = Object.create(null);
  for (const [name, value] of Object.entries(asRecord(query))) {
    const field = desc.input.fields.find((field) => field.name === name || field.jsonName === name);
    const texts = [value].flat().map(String);
    if (field === undefined) json[name] = texts;
    else if (field.fieldKind === "list") json[name] = texts.map((text) => queryValue(field, text));
    else if (texts.length > 1) refuse(name, "is given more than once");
    else json[name] = queryValue(field, texts[0] ?? "");
  }
  return json;
}

function queryValue(field: DescField, text: string): JsonValue {
  switch (field.scalar) {
    case ScalarType.BOOL:
      return text === "true" || (text === "false" ? false : text);
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return text.trim() === "" || Number.isNaN(Number(text)) ? text : Number(text);
    default:
      return text;
  }
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}
