/**
 * Messages as JSON: the proto's field names, 64-bit integers as decimal strings, enums as words, money as decimals with
 * their currency, zero values too.
 */
import {
  type DescMessage,
  type DescMethod,
  fromBinary,
  type JsonObject,
  type JsonValue,
  toJson,
} from "@bufbuild/protobuf";
import { formatMoney } from "../base/money.js";
import type { Method } from "./channel.js";
import { methodByPath } from "./descriptors.js";
import { changeEach, holdsMoney, moneyOf } from "./money-fields.js";

/** An answer of a method as JSON. */
export function answerToJson<Request, Response>(method: Method<Request, Response>, answer: Response): JsonValue {
  return answerBytesToJson(methodByPath(method.path).desc, method.responseSerialize(answer));
}

/** The same from the answer's protobuf bytes. */
export function answerBytesToJson(desc: DescMethod, bytes: Uint8Array): JsonValue {
  const { output } = desc;
  const json = toJson(output, fromBinary(output, bytes), { useProtoFieldName: true, alwaysEmitImplicit: true });
  return holdsMoney(output) ? withMoney(output, json) : json;
}

/** Writes each amount behind its whole units, of which it is made: both are there, or neither is. */
function withMoney(desc: DescMessage, json: unknown): JsonObject {
  const { own, below } = moneyOf(desc);
  const shown: JsonObject = {};
  for (const [name, value] of Object.entries(json as JsonObject)) {
    if (own.some(({ money }) => money.name === name)) continue;
    const message = below.find((field) => field.name === name)?.message;
    shown[name] = message === undefined ? value : (changeEach(value, (each) => withMoney(message, each)) as JsonValue);
    const amount = own.find(({ units }) => units.name === name);
    if (amount !== undefined) shown[amount.money.name] = formatMoney(BigInt(String(value)) * amount.nanosPerUnit);
  }
  return shown;
}
