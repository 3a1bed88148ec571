/**
 * The JSON text of a message, written straight from it: for answers of many messages, where the way over bytes and
 * objects takes several times as long as all else. It says what `answerToJson` says.
 */
import { type DescEnum, type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import { formatMoney } from "../base/money.js";
import { moneyOf } from "./money-fields.js";

export type WriteMessage = (message: object) => string;
type WriteValue = (value: unknown) => string;

const TIMESTAMP = "google.protobuf.Timestamp";
const writers = new Map<DescMessage, WriteMessage>();

interface Written {
  readonly name: string;
  /** What stands before the value. */
  readonly begin: string;
  readonly write: WriteValue;
  /** True where the value is left out if it is absent. */
  readonly isOptional: boolean;
}

/** Throws where a message has a field of a kind that no answer of many messages has. */
export function writerOf(desc: DescMessage): WriteMessage {
  const known = writers.get(desc);
  if (known !== undefined) return known;
  const fields = fieldsOf(desc);
  const write: WriteMessage = (message) => {
    let text = "";
    for (const { name, begin, write: writeValue, isOptional } of fields) {
      const value = (message as Readonly<Record<string, unknown>>)[name];
      if (isOptional && (value === undefined || value === null)) continue;
      text += (text === "" ? "{" : ",") + begin + writeValue(value);
    }
    return text === "" ? "{}" : `${text}}`;
  };
  const writer = desc.typeName === SHARED ? writtenOnce(write) : write;
  writers.set(desc, writer);
  return writer;
}

/** In the order of their numbers, each amount of money right behind its whole units, of which it is made. */
function fieldsOf(desc: DescMessage): readonly Written[] {
  const { own } = moneyOf(desc);
  const sorted = desc.fields
    .filter((field) => !own.some(({ money }) => money === field))
    .toSorted((one, other) => one.number - other.number);
  return sorted.flatMap((field): Written[] => {
    const [name, isOptional] = [field.localName, isExplicit(field)];
    const written = { name, begin: `"${field.name}":`, write: writerOfField(field), isOptional };
    const amount = own.find(({ units }) => units === field);
    if (amount === undefined) return [written];
    const write: WriteValue = (units) => `"${formatMoney((units as bigint) * amount.nanosPerUnit)}"`;
    return [written, { name, begin: `"${amount.money.name}":`, write, isOptional }];
  });
}

/** Many requests have the same price, which is longer than all else of them. */
const SHARED = "tollgate.v1.Price";

/** Writes a message once, however many others hold it. */
function writtenOnce(write: WriteMessage): WriteMessage {
  const texts = new WeakMap<object, string>();
  return (message) => {
    const known = texts.get(message);
    if (known !== undefined) return known;
    const text = write(message);
    texts.set(message, text);
    return text;
  };
}

function isExplicit({ presence }: DescField): boolean {
  return presence !== FeatureSet_FieldPresence.IMPLICIT;
}

function writerOfField(field: DescField): WriteValue {
  if (field.fieldKind === "map" || field.oneof !== undefined)
    throw new Error(`${field.parent.typeName}.${field.name} is of a kind that is not written here`);
  if (field.fieldKind === "enum") return enumWriter(field.enum);
  if (field.fieldKind === "scalar") return scalarWriter(field.scalar);
  if (field.fieldKind === "message") return messageWriter(field.message);
  const write =
    field.listKind === "message"
      ? messageWriter(field.message)
      : field.listKind === "enum"
        ? enumWriter(field.enum)
        : scalarWriter(field.scalar);
  return (items) => `[${(items as readonly unknown[]).map(write).join(",")}]`;
}

function messageWriter(desc: DescMessage): WriteValue {
  if (desc.typeName === TIMESTAMP) return (time) => `"${(time as Date).toISOString().replace(".000Z", "Z")}"`;
  // A message may hold others of its kind.
  return (message) => writerOf(desc)(message as object);
}

function enumWriter(desc: DescEnum): WriteValue {
  const words = new Map(desc.values.map(({ number, name }) => [number, JSON.stringify(name)]));
  return (value) => words.get(value as number) ?? String(value);
}

function scalarWriter(scalar: ScalarType): WriteValue {
  switch (scalar) {
    case ScalarType.STRING:
      return JSON.stringify;
    case ScalarType.INT64:
    case ScalarType.UINT64:
      return (value) => `"${value as bigint}"`;
    case ScalarType.BOOL:
    case ScalarType.INT32:
    case ScalarType.UINT32:
      return String;
    case ScalarType.DOUBLE:
      return (value) => (Number.isFinite(value) ? String(value) : JSON.stringify(String(value)));
    default:
      throw new Error(`a scalar of kind ${scalar} is not written here`);
  }
}
