/** The fields of a message in the typed form are counted wherever they stand. */
import type { DescMessage } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { registry } from "../../../src/api/descriptors.js";
import { EmbedRequest, Generation, InferenceServiceService } from "../../../src/api/index.js";
import { TYPED_FIELDS_MAX } from "../../../src/api/typed-form.js";
import { hasManyFields, TYPED_SHAPES } from "../../../src/rpc/transport/typed-weight.js";

const METHODS = ["streamGenerate", "generate", "countTokens", "embed", "rerank", "moderate", "estimateCost"];
const SERVICE = InferenceServiceService.generate.path.split("/")[1] ?? "";

/** The messages in a message's fields, by number. An entry of a map is one. */
function messagesIn(message: DescMessage): readonly (readonly [number: number, inner: DescMessage | "entry"])[] {
  return message.fields.flatMap((field) => {
    const inner = field.fieldKind === "map" ? "entry" : field.message;
    return inner === undefined ? [] : [[field.number, inner] as const];
  });
}

test("every field of a typed request that holds a message is known to hold one", () => {
  const service = registry().getService(SERVICE);
  const waiting = METHODS.flatMap((name) => service?.method[name]?.input ?? []);
  expect(waiting).toHaveLength(METHODS.length);
  const found: Record<string, Record<number, string>> = {};
  for (let message = waiting.pop(); message !== undefined; message = waiting.pop()) {
    if (found[message.typeName] !== undefined) continue;
    const shape: Record<number, string> = (found[message.typeName] = {});
    for (const [number, inner] of messagesIn(message)) {
      shape[number] = inner === "entry" ? inner : inner.typeName;
      if (inner !== "entry") waiting.push(inner);
    }
  }
  const holding = Object.entries(found).filter(([, shape]) => Object.keys(shape).length > 0);
  expect(Object.fromEntries(holding)).toEqual(TYPED_SHAPES);
});

const part = Buffer.from([0x12, 0]);
/** A field of a number below 16, around bytes. */
function field(number: number, bytes: Buffer): Buffer {
  const { length } = bytes;
  return Buffer.concat([Buffer.from([number * 8 + 2, (length % 128) + 128, Math.floor(length / 128) + 128, 0]), bytes]);
}
const parts = (count: number): Buffer => Buffer.alloc(part.length * count, part);

test.each([
  { name: "as many as are allowed", bytes: field(2, field(1, parts(TYPED_FIELDS_MAX - 2))), many: false },
  { name: "one more", bytes: field(2, field(1, parts(TYPED_FIELDS_MAX - 1))), many: true },
  { name: "as many bytes of one text", bytes: field(1, Buffer.alloc(16_000, part)), many: false },
  { name: "one group", bytes: Buffer.concat([Buffer.from([0x4b]), parts(3_000), Buffer.from([0x4c])]), many: true },
])("a message with $name", ({ bytes, many }) => {
  expect(hasManyFields(bytes, "tollgate.v1.Generation")).toBe(many);
});

test("parts within parts are counted, however deep they stand", () => {
  let nested: Buffer = Buffer.alloc(0);
  for (let depth = 0; depth < 1_000; depth += 1) nested = field(2, field(6, nested));
  const bytes = field(2, field(1, nested));
  expect(bytes.length).toBeLessThan(16_384);
  expect(hasManyFields(bytes, "tollgate.v1.Generation")).toBe(false);
  expect(hasManyFields(field(2, field(1, Buffer.concat([nested, parts(100)]))), "tollgate.v1.Generation")).toBe(true);
});

test("a message that ends within a field is refused as when it is decoded", () => {
  const bytes = Buffer.concat([parts(4_096).subarray(0, 5_000), Buffer.from([0x12, 100])]);
  expect(() => EmbedRequest.decode(bytes)).toThrow(RangeError);
  expect(() => Generation.decode(bytes)).toThrow(RangeError);
  expect(hasManyFields(bytes, "tollgate.v1.EmbedRequest")).toBe(true);
  const texts = Buffer.concat([Buffer.from([0x0a, 0xa0, 0x27]), Buffer.alloc(4_000)]);
  expect(() => hasManyFields(texts, "tollgate.v1.EmbedRequest")).not.toThrow();
});
