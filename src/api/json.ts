/** Messages as JSON: the proto's field names, 64-bit integers as decimal strings, enums as words, zero values too. */
import { type DescMethod, fromBinary, type JsonValue, toJson } from "@bufbuild/protobuf";
import type { Method } from "./channel.js";
import { methodByPath } from "./descriptors.js";

/** An answer of a method as JSON. */
export function answerToJson<Request, Response>(method: Method<Request, Response>, answer: Response): JsonValue {
  return answerBytesToJson(methodByPath(method.path).desc, method.responseSerialize(answer));
}

/** The same from the answer's protobuf bytes. */
export function answerBytesToJson(desc: DescMethod, bytes: Uint8Array): JsonValue {
  return toJson(desc.output, fromBinary(desc.output, bytes), { useProtoFieldName: true, alwaysEmitImplicit: true });
}
