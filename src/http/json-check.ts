/** Checks JSON against a message of the protocol before it is read, so that a refusal names the field in our words. */
import { type DescEnum, type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { FIELD_MASK } from "../api/descriptors.js";
import { MONEY } from "../api/money-fields.js";
import { GatewayError } from "../base/errors.js";

const INT32 = { least: -(2n ** 31n), most: 2n ** 31n - 1n };
const UINT32 = { least: 0n, most: 2n ** 32n - 1n };
const INT64 = { least: -(2n ** 63n), most: 2n ** 63n - 1n };
const UINT64 = { least: 0n, most: 2n ** 64n - 1n };
const INTEGERS: ReadonlyMap<ScalarType, { readonly least: bigint; readonly most: bigint }> = new Map([
  [ScalarType.INT32, INT32],
  [ScalarType.SINT32, INT32],
  [ScalarType.SFIXED32, INT32],
  [ScalarType.UINT32, UINT32],
  [ScalarType.FIXED32, UINT32],
  [ScalarType.INT64, INT64],
  [ScalarType.SINT64, INT64],
  [ScalarType.SFIXED64, INT64],
  [ScalarType.UINT64, UINT64],
  [ScalarType.FIXED64, UINT64],
]);
const INTEGER_TEXT = /^-?\d{1,20}$/;
const BASE64_TEXT = /^[A-Za-z0-9+/_-]*={0,2}$/;
const TIMESTAMP_TEXT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/;

/** Throws PARAMETER_INVALID at the first field that the message does not have or whose value does not fit it. */
export function checkMessage(desc: DescMessage, json: unknown, path = ""): void {
  if (desc.typeName === "google.protobuf.Timestamp") {
    checkTimestamp(json, path);
    return;
  }
  // Amounts are read, and refused, where they become whole units.
  if (desc.typeName === MONEY) return;
  if (desc.typeName === FIELD_MASK) {
    if (typeof json !== "string") refuse(path, "must be a string of names with commas between them");
    return;
  }
  if (!isRecord(json)) refuse(path || "body", "must be an object");
  const seen = new Set<string>();
  for (const [name, value] of Object.entries(json)) {
    const at = path === "" ? name : `${path}.${name}`;
    const field = desc.fields.find((field) => field.name === name || field.jsonName === name);
    if (field === undefined) refuse(at, unknownField(desc));
    // Of a oneof's members one may be set, and no field twice under its two names.
    const place = field.oneof?.name ?? field.name;
    if (value !== null && seen.has(place)) refuse(at, `is set twice, or beside another choice of '${place}'`);
    if (value === null) continue;
    seen.add(place);
    checkField(field, value, at);
  }
}

export function refuse(param: string, problem: string): never {
  throw new GatewayError("ERROR_REASON_PARAMETER_INVALID", { param, problem });
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function checkField(field: DescField, value: unknown, at: string): void {
  switch (field.fieldKind) {
    case "scalar":
      return checkScalar(field.scalar, value, at);
    case "enum":
      return checkEnum(field.enum, value, at);
    case "message":
      return checkMessage(field.message, value, at);
    case "list":
      if (!Array.isArray(value)) refuse(at, "must be an array");
      return value.forEach((item: unknown, index) => checkItem(field, item, `${at}[${index}]`));
    case "map":
      if (!isRecord(value)) refuse(at, "must be an object");
      for (const [key, item] of Object.entries(value)) checkItem(field, item, `${at}.${key}`);
  }
}

/** One value of a list or of a map. */
function checkItem(field: DescField & { fieldKind: "list" | "map" }, item: unknown, at: string): void {
  if (field.message !== undefined) checkMessage(field.message, item, at);
  else if (field.enum !== undefined) checkEnum(field.enum, item, at);
  else checkScalar(field.scalar, item, at);
}

function checkScalar(type: ScalarType, value: unknown, at: string): void {
  const range = INTEGERS.get(type);
  if (range !== undefined) return checkInteger(value, range, at);
  switch (type) {
    case ScalarType.BOOL:
      return typeof value === "boolean" ? undefined : refuse(at, "must be true or false");
    case ScalarType.STRING:
      return typeof value === "string" ? undefined : refuse(at, "must be a string");
    case ScalarType.BYTES:
      return typeof value === "string" && BASE64_TEXT.test(value) ? undefined : refuse(at, "must be base64 text");
    default:
      return typeof value === "number" ? undefined : refuse(at, "must be a number");
  }
}

function checkInteger(value: unknown, range: { readonly least: bigint; readonly most: bigint }, at: string): void {
  const isInteger = typeof value === "string" ? INTEGER_TEXT.test(value) : Number.isInteger(value);
  if (!isInteger) refuse(at, "must be an integer, as a number or as a string of digits");
  // JSON readers round such a number, so what arrived may not be what was sent.
  if (typeof value === "number" && !Number.isSafeInteger(value)) refuse(at, "is above 2^53; send it as a string");
  const exact = BigInt(String(value));
  if (exact < range.least || exact > range.most) refuse(at, `must be from ${range.least} to ${range.most}`);
}

function checkEnum(desc: DescEnum, value: unknown, at: string): void {
  if (desc.values.some((known) => known.name === value)) return;
  refuse(at, `must be one of ${desc.values.map((known) => known.name).join(", ")}`);
}

function checkTimestamp(json: unknown, at: string): void {
  const fits = typeof json === "string" && TIMESTAMP_TEXT.test(json) && !Number.isNaN(Date.parse(json));
  if (!fits) refuse(at, "must be a time such as 2026-11-21T12:00:00Z");
}

function unknownField(desc: DescMessage): string {
  const names = desc.fields.map((field) => field.name);
  return names.length === 0
    ? "there is no such field; there are none"
    : `there is no such field; there are ${names.join(", ")}`;
}
