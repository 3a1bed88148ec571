/**
 * What real decoders take of a body that leaves is what the gateway wrote: the model, and every name of the limit. Here
 * Node's reads the bodies, and protobuf's own, which takes a field by two names; `decoders.prove.test.ts` asks others.
 */
import { createFileRegistry, type DescMessage, fromJson, type JsonValue, toJson } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { ENDPOINTS, LIMIT } from "./asked.js";
import { expectOurs, LOOKED_AT, sent, wires } from "./sent-bodies.js";

function at(body: unknown, path: string): unknown {
  return path
    .split(".")
    .reduce(
      (from, name) => (from === null ? null : ((from as Record<string, unknown> | undefined)?.[name] ?? null)),
      body,
    );
}

/** What matters here of Google's `GenerateContentRequest`. */
function googleRequest(): DescMessage {
  const field = (name: string, jsonName: string, type: string, more: object = {}) => ({
    name,
    jsonName,
    type,
    number: 1,
    label: "LABEL_OPTIONAL",
    ...more,
  });
  const config = { name: "GenerationConfig", field: [field("max_output_tokens", "maxOutputTokens", "TYPE_INT32")] };
  const inner = field("generation_config", "generationConfig", "TYPE_MESSAGE", { typeName: ".t.GenerationConfig" });
  const messageType = [config, { name: "Request", field: [inner] }];
  const file = { name: "t.proto", package: "t", syntax: "proto3", messageType };
  const found = createFileRegistry(fromJson(FileDescriptorSetSchema, { file: [file] })).getMessage("t.Request");
  if (found === undefined) throw new Error("the test's own message is not there");
  return found;
}

test("every wire that a family speaks is looked at", () => {
  expect(Object.keys(LOOKED_AT)).toEqual(expect.arrayContaining(ENDPOINTS.map(({ endpoint }) => endpoint.wire.name)));
  // Most are refused, and what passes ends up nearly the same.
  const looked = Object.entries(LOOKED_AT).filter(([, { model, limits }]) => model !== undefined || limits.length > 0);
  expect(wires.toSorted()).toEqual(looked.map(([wire]) => wire).toSorted());
  expect(sent.length).toBeGreaterThan(2 * wires.length);
});

describe.each(wires)("of a body in the wire %s", (wire) => {
  test("Node's decoder takes ours", () => {
    for (const one of sent.filter((each) => each.wire === wire)) {
      const body: unknown = JSON.parse(one.body);
      expectOurs(
        one,
        one.paths.map((path) => at(body, path)),
      );
    }
  });
});

test("of a body in Google's wire protobuf's decoder, which takes each field by two names, takes ours", () => {
  const schema = googleRequest();
  const asked = sent.filter(({ wire }) => wire === "gemini");
  for (const { body } of asked) {
    const taken = fromJson(schema, JSON.parse(body) as JsonValue, { ignoreUnknownFields: true });
    expect(toJson(schema, taken), body).toMatchObject({ generationConfig: { maxOutputTokens: LIMIT } });
  }
});
