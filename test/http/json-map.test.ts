/** The mapping between JSON and messages, for values of any size. */
import { fc } from "../support/seeds.js";
import { expect, test } from "vitest";
import type { DescMessage } from "@bufbuild/protobuf";
import { methodByPath, methods, registry } from "../../src/api/descriptors.js";
import { CreditAccountRequest, CreditAccountResponse, EstimateCostRequest } from "../../src/api/index.js";
import { formatMoney } from "../../src/base/money.js";
import { requestBytes, responseJson } from "../../src/http/json-map.js";

const CREDIT = methodByPath("/tollgate.v1.AccountService/CreditAccount").desc;
const ESTIMATE = methodByPath("/tollgate.v1.InferenceService/EstimateCost").desc;
const INT64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

test("any amount and any name arrive as they were sent, and go back as they came", () => {
  fc.assert(
    fc.property(INT64, fc.string({ unit: "grapheme" }), (amount, creditId) => {
      const json = { amount_nanos: String(amount), credit_id: creditId };
      const input = { path: { id: "acme" }, query: {}, body: Buffer.from(JSON.stringify(json)) };
      const request = CreditAccountRequest.decode(requestBytes(CREDIT, input));
      expect(request).toEqual({ id: "acme", amountNanos: amount, creditId, reason: "", amount: undefined });
      const answer = CreditAccountResponse.encode({ availableNanos: amount, repeatedCredit: true }).finish();
      expect(JSON.parse(responseJson(CREDIT, Buffer.from(answer)))).toEqual({
        available_nanos: String(amount),
        available: formatMoney(amount),
        repeated_credit: true,
      });
    }),
  );
});

test("any JSON is read or refused with the name of a field, never with a fault of ours", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
      const body = Buffer.from(JSON.stringify({ generation: value, ...(typeof value === "object" ? value : {}) }));
      try {
        EstimateCostRequest.decode(requestBytes(ESTIMATE, { path: {}, query: {}, body }));
      } catch (error) {
        expect(error).toMatchObject({ name: "GatewayError", http: 400 });
      }
    }),
  );
});

test.each([
  { name: "an enum by its word", message: { role: "user" }, fits: true },
  { name: "an enum by the protocol's name", message: { role: "ROLE_USER" }, fits: false },
  { name: "an enum by a number", message: { role: 3 }, fits: false },
  { name: "an unknown enum", message: { role: "narrator" }, fits: false },
  { name: "one choice", message: { parts: [{ text: { text: "hi" } }] }, fits: true },
  { name: "two choices at once", message: { parts: [{ text: { text: "hi" }, refusal: { text: "no" } }] }, fits: false },
  { name: "bytes", message: { parts: [{ image: { inline: { data: "aGk=" } } }] }, fits: true },
  { name: "no base64", message: { parts: [{ image: { inline: { data: "a*" } } }] }, fits: false },
  { name: "bytes cut short", message: { parts: [{ image: { inline: { data: "aGk=a" } } }] }, fits: false },
])("$name fits a message: $fits", ({ message, fits }) => {
  const body = Buffer.from(JSON.stringify({ generation: { model: "m", prompt: { messages: [message] } } }));
  const read = (): Buffer => requestBytes(ESTIMATE, { path: {}, query: {}, body });
  if (fits) expect(read().length).toBeGreaterThan(0);
  else expect(read).toThrow(expect.objectContaining({ http: 400 }));
});

test("every enum of every management method is a word in JSON, and reasons are spelled as in ErrorInfo", () => {
  const words = new Map<string, readonly string[]>();
  const visit = (message: DescMessage): void => {
    if (words.has(message.typeName)) return;
    words.set(message.typeName, []);
    for (const field of message.fields) {
      if (field.enum !== undefined)
        words.set(
          field.enum.typeName,
          field.enum.values.map(({ name }) => name),
        );
      if (field.message !== undefined) visit(field.message);
    }
  };
  for (const { desc, http } of methods()) if (http !== undefined) [desc.input, desc.output].forEach(visit);
  expect(words.get("tollgate.v1.RequestState")).toEqual([
    "unspecified",
    "held",
    "settled",
    "voided",
    "expired",
    "uncharged",
  ]);
  expect(words.get("tollgate.v1.ErrorReason")).toContain("UPSTREAM_FAILED");
  for (const [name, values] of words) {
    const shape = name === "tollgate.v1.ErrorReason" ? /^[A-Z_]+$/ : /^[a-z0-9_]+$/;
    expect(
      values.filter((value) => !shape.test(value)),
      name,
    ).toEqual([]);
  }
});

test("no field of the protocol tells a state, a kind or a reason of refusals as free text", () => {
  const named = /^(?:state|kind|health|end|finish|cause|.*_(?:state|kind|health|end|cause)|error_reason|.*_source)$/;
  const files = [...registry().files].filter(({ proto }) => proto.package === "tollgate.v1");
  const texts = files
    .flatMap(({ messages }) => messages)
    .flatMap(({ typeName, fields }) => fields.map((field) => ({ typeName, field })))
    .filter(({ field }) => named.test(field.name) && field.enum === undefined && field.scalar !== undefined)
    .map(({ typeName, field }) => `${typeName}.${field.name}`);
  expect(texts).toEqual([]);
});

test("what stands in a string does not count as nesting", () => {
  const body = Buffer.from(JSON.stringify({ credit_id: `${'\\"['.repeat(200)}\\` }));
  expect(
    CreditAccountRequest.decode(requestBytes(CREDIT, { path: { id: "a" }, query: {}, body })).creditId,
  ).toHaveLength(601);
});

test("an object nested without end is refused, not followed", () => {
  const open = '{"tool_result":{"parts":['.repeat(200_000);
  const body = Buffer.from(`{"generation":{"prompt":{"messages":[{"parts":[${open}`);
  expect(() => requestBytes(ESTIMATE, { path: {}, query: {}, body })).toThrow("nested more than 64 deep");
});

test("a body holds so many values, and one more is refused before any is read", () => {
  const messages = (count: number): Buffer =>
    Buffer.from(`{"generation":{"prompt":{"messages":[${Array.from({ length: count }, () => "{}").join(",")}]}}}`);
  // The outermost value, four that open within it, and two signs for each message.
  const most = (16_384 - 4) / 2;
  const read = EstimateCostRequest.decode(requestBytes(ESTIMATE, { path: {}, query: {}, body: messages(most) }));
  expect(read.generation?.input).toMatchObject({ value: { messages: { length: most } } });
  const body = messages(most + 1);
  expect(() => requestBytes(ESTIMATE, { path: {}, query: {}, body })).toThrow("more than 16384 values; send fewer");
});
