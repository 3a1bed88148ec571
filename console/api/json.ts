/** Between messages of the protocol and their JSON: 64-bit integers are `bigint`, times are `Date`. */
import type { FieldKind, FieldShape, Shape } from "../../gen/console/shape.js";

type Json = Readonly<Record<string, unknown>>;

const names = new Map<string, string>();

/** The name of a field in a message: `cost_nanos` is `costNanos`. */
function memberName(jsonName: string): string {
  const known = names.get(jsonName);
  if (known !== undefined) return known;
  const name = jsonName.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  names.set(jsonName, name);
  return name;
}

/** A message from its JSON. What an older server leaves out has its zero value. */
export function readMessage(shape: Shape, json: unknown): Json {
  const from = asJson(json);
  const message: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(shape)) message[memberName(name)] = readField(field, from[name]);
  return message;
}

/** The JSON of a request. What is undefined is left out. */
export function writeMessage(shape: Shape, message: unknown): Json {
  const from = asJson(message);
  const json: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(shape)) {
    const value = from[memberName(name)];
    if (value !== undefined) json[name] = writeField(field, value);
  }
  return json;
}

function readField(field: FieldShape, value: unknown): unknown {
  if (!isCompound(field)) return readValue(field, value);
  const [form, kind] = field;
  if (form === "?") return value === undefined || value === null ? undefined : readValue(kind, value);
  if (form === "[]") return Array.isArray(value) ? value.map((each) => readValue(kind, each)) : [];
  return Object.fromEntries(Object.entries(asJson(value)).map(([name, each]) => [name, readValue(kind, each)]));
}

function writeField(field: FieldShape, value: unknown): unknown {
  if (!isCompound(field)) return writeValue(field, value);
  const [form, kind] = field;
  if (form === "[]") return Array.isArray(value) ? value.map((each) => writeValue(kind, each)) : [];
  if (form === "?") return writeValue(kind, value);
  return Object.fromEntries(Object.entries(asJson(value)).map(([name, each]) => [name, writeValue(kind, each)]));
}

function isCompound(field: FieldShape): field is readonly ["?" | "[]" | "{}", FieldKind] {
  return Array.isArray(field);
}

function readValue(kind: FieldKind, value: unknown): unknown {
  if (typeof kind === "function") return readMessage(kind(), value);
  switch (kind) {
    case "n":
      return typeof value === "string" || typeof value === "number" ? BigInt(value) : 0n;
    case "t":
      return new Date(typeof value === "string" ? value : 0);
    case "i":
      return Number(value ?? 0);
    case "b":
      return value === true;
    case "s":
      return typeof value === "string" ? value : "";
    case "x":
      return value;
  }
}

function writeValue(kind: FieldKind, value: unknown): unknown {
  if (typeof kind === "function") return writeMessage(kind(), value);
  if (kind === "n") return String(value);
  return value instanceof Date ? value.toISOString() : value;
}

function asJson(value: unknown): Json {
  return typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}
