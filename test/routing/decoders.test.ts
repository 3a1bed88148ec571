/**
 * What real decoders take of a body that leaves is what the gateway wrote: the model, and every name of the limit. Each
 * wire's bodies are read by the decoders of the servers behind it: Python's and Node's, which mind every letter, Go's,
 * which minds no letter's case, and where the wire is Google's, protobuf's own, which takes a field by two names.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createFileRegistry, type DescMessage, fromJson, type JsonValue, toJson } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { afterAll, describe, expect, test } from "vitest";
import { GatewayError } from "../../src/errors.js";
import { CLIENT_WIRES, ENDPOINTS, goesTo, LEAST, leaving, LIMIT, MODEL, read } from "./asked.js";

const FOLDER = fileURLToPath(new URL("../wire/decoders/", import.meta.url));
const built = mkdtempSync(join(tmpdir(), "tollgate-decoders-"));
afterAll(() => rmSync(built, { recursive: true, force: true }));

const VALUES = ['"m"', '"dear"', "1", "999999", "1e3", "null", "-1", "0.5"];
const MODELS = "model Model MODEL mod\\u0065l model\\u0000 m\\u006fdel".split(" ");
const GENERATION = ["generationConfig", "generation_config", "GenerationConfig", "generationconfig"];

/** Members that a client of each wire may try; of Google's the limit is inside of another. */
const TRIED: Readonly<Record<string, readonly string[]>> = {
  "openai-chat": names(
    "max_tokens MAX_TOKENS Max_Tokens max_to\u212aens max_token\u017f max_token\\u0073 maxTokens " +
      "max_completion_tokens Max_Completion_Tokens n_predict N_PREDICT n_pred\\u0069ct",
  ),
  "openai-completions": names("max_tokens MAX_TOKENS max_to\u212aens max_token\\u0073 n_predict N_Predict maxTokens"),
  "openai-responses": names(
    "max_output_tokens MAX_OUTPUT_TOKENS max_output_to\u212aens max_output_token\\u0073 maxOutputTokens max_tokens",
  ),
  "openai-compaction": names("max_output_tokens max_tokens"),
  "openai-embeddings": names("dimensions max_tokens"),
  anthropic: names("max_tokens MAX_TOKENS Max_Tokens max_to\u212aens max_token\u017f max_token\\u0073 maxTokens"),
  gemini: [
    ...names("maxOutputTokens max_output_tokens"),
    ...GENERATION.flatMap((config) =>
      "maxOutputTokens max_output_tokens MaxOutputTokens maxOutputToken\\u0073 max_output_to\u212aens"
        .split(" ")
        .map((name) => `"${config}":{"${name}":999999}`),
    ),
  ],
};

/** What the decoders look at in the bodies of each wire: where the model may stand, and every name of the limit. */
const LOOKED_AT: Readonly<Record<string, { readonly model?: string; readonly limits: readonly string[] }>> = {
  "openai-chat": { model: "model", limits: ["max_tokens", "max_completion_tokens", "n_predict"] },
  "openai-completions": { model: "model", limits: ["max_tokens", "n_predict"] },
  "openai-responses": { model: "model", limits: ["max_output_tokens"] },
  "openai-compaction": { model: "model", limits: [] },
  "openai-embeddings": { model: "model", limits: [] },
  anthropic: { model: "model", limits: ["max_tokens"] },
  gemini: {
    limits: [
      "generationConfig.maxOutputTokens",
      "generationConfig.max_output_tokens",
      "generation_config.maxOutputTokens",
      "generation_config.max_output_tokens",
    ],
  },
  "gemini-embeddings": { limits: [] },
  "bedrock-converse": { limits: ["inferenceConfig.maxTokens"] },
};

interface Sent {
  readonly wire: string;
  readonly paths: readonly string[];
  readonly body: string;
}

function names(list: string): string[] {
  return [...MODELS, ...list.split(" ")].map((name, place) => `"${name}":${VALUES[(place * 5 + 1) % VALUES.length]}`);
}

/** Each member behind a request, and every pair of them behind it and before it. */
function* bodies(wire: string): Generator<string> {
  const said = Object.entries(LEAST[wire] ?? {}).map(([name, value]) => `"${name}":${JSON.stringify(value)}`);
  const tried = TRIED[wire] ?? [];
  yield `{${said.join(",")}}`;
  for (const one of tried) {
    yield `{${[...said, one].join(",")}}`;
    for (const other of tried) {
      yield `{${[...said, one, other].join(",")}}`;
      yield `{${[one, other, ...said].join(",")}}`;
    }
  }
}

/** The bodies that some family's upstream would get, each once. */
function sentBodies(): Sent[] {
  const sent = new Map<string, Sent>();
  for (const { name: wire } of CLIENT_WIRES) {
    for (const body of bodies(wire)) {
      for (const { family, endpoint } of ENDPOINTS) {
        const to = endpoint.wire.name;
        if (!goesTo(wire, to)) continue;
        const { model, limits } = LOOKED_AT[to] ?? { limits: [] };
        const paths = [...(model === undefined ? [] : [model]), ...limits];
        try {
          const text = leaving(read(wire, body), family, endpoint).toString();
          sent.set(`${to} ${text}`, { wire: to, paths, body: text });
        } catch (error) {
          if (!(error instanceof GatewayError) || error.http !== 400) throw error;
        }
      }
    }
  }
  return [...sent.values()].filter(({ paths }) => paths.length > 0);
}

const sent = sentBodies();
/** Of Google's vectors nothing in a body names a model or a limit. */
const wires = [...new Set(sent.map(({ wire }) => wire))];

function expectOurs({ wire, paths, body }: Sent, seen: readonly unknown[]): void {
  const { model, limits } = LOOKED_AT[wire] ?? { limits: [] };
  expect(seen, body).toHaveLength(paths.length);
  if (model !== undefined) expect(seen[0], body).toBe(MODEL);
  const told = seen.slice(model === undefined ? 0 : 1).filter((limit) => limit !== undefined && limit !== null);
  // At least one name of the limit is there, and none says another.
  if (limits.length > 0) expect(told, body).not.toEqual([]);
  for (const limit of told) expect(limit, body).toBe(LIMIT);
}

/** A decoder that is a program of its own: it reads all bodies of a wire at once. */
function expectTaken(wire: string, command: string, args: readonly string[]): void {
  const asked = sent.filter((one) => one.wire === wire);
  const input = asked.map(({ paths, body }) => `${paths.join(" ")}\t${body}\n`).join("");
  const { status, stdout, stderr } = spawnSync(command, args, { input, encoding: "utf8" });
  expect(status, stderr).toBe(0);
  const lines = stdout.trim().split("\n");
  expect(lines).toHaveLength(asked.length);
  for (const [place, one] of asked.entries()) expectOurs(one, JSON.parse(lines[place] ?? "") as unknown[]);
}

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

const works = (command: string, args: readonly string[]): boolean => spawnSync(command, args).status === 0;
const python = ["/usr/bin/python3", "python3"].find((command) => works(command, ["-c", "import json"]));
const hasGo = works("go", ["version"]);

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

  test("Python's takes ours", (context) => {
    if (python === undefined) return context.skip("Python is not there");
    expectTaken(wire, python, [join(FOLDER, "decode.py")]);
  });

  test("Go's, which minds no letter's case, takes ours", (context) => {
    if (!hasGo) return context.skip("Go is not there");
    const program = join(built, "decode");
    const made = spawnSync("go", ["build", "-o", program, join(FOLDER, "decode.go")], { encoding: "utf8" });
    expect(made.status, made.stderr).toBe(0);
    expectTaken(wire, program, []);
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
