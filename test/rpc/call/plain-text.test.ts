/** No field of a change takes control characters: what is shown to people and written to lines is plain. */
import { create, type DescField, type DescMessage, type Message, toBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { methods } from "../../../src/api/descriptors.js";
import { requiredMethod } from "../../../src/api/methods.js";
import { isChange } from "../../../src/rpc/call/call-log.js";
import { openCore, type OpenCore } from "../open-core.js";

/** Texts of several lines, and what is compared or run rather than shown. */
const FREE: ReadonlySet<string> = new Set([
  "content",
  "password",
  "new_password",
  "user_agent",
  "redactions",
  "metadata.x",
  "end_user",
  "credit_id",
  "debit_id",
  "refund_id",
]);
const SIGNAL = new AbortController().signal;
const BROKEN = ["a\r\nb", "a\nb", "a\tb", "a\0b", "a\u0085b", "a\u2028b", "https://a.example/\r\n"];

let core: OpenCore;
let operator: string;
beforeAll(async () => {
  core = await openCore();
  ({ secret: operator } = await core.makeKey("acme", { scopes: ["operator"] }));
});
afterAll(() => core.close());

interface TextField {
  /** As refusals name it, such as `settings.name`. */
  readonly param: string;
  readonly free: boolean;
  fill(text: string): Message;
}

/** Every place of a message that holds text, at any depth. */
function textsOf(desc: DescMessage, depth = 3): TextField[] {
  return desc.fields.flatMap((field): TextField[] => {
    const place = { param: field.name, free: FREE.has(field.name) };
    const fill = (value: unknown): Message =>
      create(
        desc,
        field.oneof === undefined
          ? { [field.localName]: value }
          : { [field.oneof.localName]: { case: field.localName, value } },
      );
    if (isText(field)) return [{ ...place, fill }];
    if (isTexts(field)) return [{ ...place, fill: (text) => fill([text]) }];
    if (field.fieldKind === "map" && field.mapKind === "scalar" && field.scalar === 9)
      return [{ param: `${field.name}.x`, free: FREE.has(`${field.name}.x`), fill: (text) => fill({ x: text }) }];
    if (field.fieldKind !== "message" || depth === 0 || field.message.typeName.startsWith("google.")) return [];
    return textsOf(field.message, depth - 1).map((inner) => ({
      param: `${field.name}.${inner.param}`,
      free: inner.free,
      fill: (text) => fill(inner.fill(text)),
    }));
  });
}

const isText = (field: DescField): boolean => field.fieldKind === "scalar" && field.scalar === 9;
const isTexts = (field: DescField): boolean =>
  field.fieldKind === "list" && field.listKind === "scalar" && field.scalar === 9;

const changes = methods()
  .filter(isChange)
  // No key may call what is a person's own; the same link of the chain looks at those.
  .filter(({ permission }) => permission?.user !== true)
  .flatMap(({ path, desc }) => textsOf(desc.input).map((field) => ({ path, desc: desc.input, field })));

describe.each(changes)("$path $field.param", ({ path, desc, field: { param, free, fill } }) => {
  test(free ? "may have several lines" : "is refused with control characters", async () => {
    const method = requiredMethod(path);
    const call = { metadata: { authorization: `Bearer ${operator}` }, signal: SIGNAL, peer: "10.1.2.3", local: false };
    for (const text of free ? ["a\nb"] : BROKEN) {
      const request = method.requestDeserialize(Buffer.from(toBinary(desc, fill(text))));
      const outcome = await core.dispatcher.unary(method, request, call);
      const error = outcome.kind === "answered" ? undefined : outcome.error;
      const refusal = { reason: error?.reason, problem: error?.metadata["problem"], param: error?.metadata["param"] };
      const refused = { reason: "ERROR_REASON_PARAMETER_INVALID", problem: "must have no control characters", param };
      if (free) expect(refusal).not.toEqual(refused);
      else expect(refusal).toEqual(refused);
    }
  });
});

test("most changes hold text", () => {
  expect(new Set(changes.map(({ path }) => path)).size).toBeGreaterThan(30);
});
