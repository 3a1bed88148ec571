/** The OpenAPI document is made from the code, is valid, and tells the truth: its examples answer as it says. */
import { readFileSync } from "node:fs";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { methods } from "../../src/api/descriptors.js";
import { type GatewayProcess, OPERATOR_KEY, startGateway } from "../support/gateway-process.js";
import { openApiDocument } from "../support/openapi/document.js";
import { allFormats, openApiPath } from "../support/openapi/format-paths.js";
import { DOCUMENT, httpApiPage } from "../support/openapi/http-api-page.js";
import { EXAMPLE_ID, EXAMPLES } from "../support/openapi/management-paths.js";
import { expectMade, expectMadeBelow } from "../support/reference-page.js";

const { version } = JSON.parse(readFileSync("package.json", "utf8"));
const made = await openApiDocument(version);
const document = DOCUMENT.parse(made);
const operations = Object.entries(document.paths).flatMap(([path, verbs]) =>
  Object.entries(verbs).map(([verb, operation]) => ({ path, verb: verb.toUpperCase(), operation })),
);

test("schemas/openapi.json and docs/http-api.md are made from the code", () => {
  expectMade("schemas/openapi.json", `${JSON.stringify(made, null, 1)}\n`);
  expectMadeBelow("docs/http-api.md", httpApiPage(made));
});

test("it is valid OpenAPI 3.1", async () => {
  const validator = new Validator();
  expect(await validator.validate(structuredClone(made))).toEqual({ valid: true });
  expect(validator.version).toBe("3.1");
  const ids = operations.map(({ operation }) => operation.operationId);
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
});

test("it has every method of the protocol that HTTP reaches, and every route of a format", async () => {
  const paths = new Set(operations.map(({ path, verb }) => `${verb} ${path}`));
  const managed = methods().flatMap(({ http }) =>
    http === undefined ? [] : [`${http.verb} ${http.pattern.replace("=**", "")}`],
  );
  const formats = await allFormats();
  const asked = formats.flatMap(({ routes }) => routes.map(({ method, path }) => `${method} ${openApiPath(path)}`));
  expect(managed.length).toBeGreaterThan(50);
  expect(asked.length).toBeGreaterThan(10);
  expect([...managed, ...asked].filter((one) => !paths.has(one))).toEqual([]);
});

test("every operation and every field of the protocol says what it is", () => {
  expect(operations.filter(({ operation }) => !/^[A-Z]/.test(operation.summary)).map(({ path }) => path)).toEqual([]);
  const silent = Object.entries(document.components.schemas).filter(
    ([, schema]) => !JSON.stringify(schema).includes("description"),
  );
  expect(silent.map(([name]) => name)).toEqual([]);
});

const AJV = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(AJV);
// Answers have no field that is not told: the document lets clients meet new ones, the test does not.
AJV.addSchema({ $id: "doc", components: closed(made["components"]) });

/** Each message's schema without room for members that it does not name. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== "object" || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([name, each]) => [name, closed(each)]));
  return "properties" in copy && "type" in copy ? { additionalProperties: false, ...copy } : copy;
}

let gateway: GatewayProcess;
const ids = new Map<string, string>();
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

async function expectAnswer(verb: string, path: string, schema: unknown, body?: unknown): Promise<unknown> {
  const response = await fetch(gateway.url + path, {
    method: verb,
    headers: { authorization: `Bearer ${ids.get("secret") ?? OPERATOR_KEY}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer: unknown = await response.json();
  expect({ status: response.status, answer }).toMatchObject({ status: 200 });
  const fits = AJV.compile({
    $defs: {},
    ...(JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"doc#/components/')) as object),
  });
  expect({ fits: fits(answer), errors: fits.errors, answer }).toMatchObject({ fits: true });
  return answer;
}

function answerSchema(operation: (typeof operations)[number]["operation"]): unknown {
  return operation.responses["200"]?.content?.["application/json"]?.schema;
}

/** Sound has no schema, only a content type. */
async function expectSound(path: string, body: unknown): Promise<void> {
  const headers = { authorization: `Bearer ${ids.get("secret")}`, "content-type": "application/json" };
  const response = await fetch(`${gateway.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toMatch(/^audio\//);
  expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(0);
}

describe("against a fresh gateway", () => {
  test("/openapi.json is what it serves, to anybody", async () => {
    const response = await fetch(`${gateway.url}/openapi.json`);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual(JSON.parse(readFileSync("schemas/openapi.json", "utf8")));
  });

  test("the examples of management answer as their schemas say", async () => {
    for (const name of Object.keys(EXAMPLES)) {
      const found = operations.find(({ operation }) => operation.operationId.toLowerCase() === name.toLowerCase());
      if (found === undefined) throw new Error(`${name} is no method`);
      const body = found.operation.requestBody?.content["application/json"].example;
      await expectAnswer(found.verb, found.path.replace("{id}", EXAMPLE_ID), answerSchema(found.operation), body);
    }
  });

  test("what can be read without a body is as the schemas say", async () => {
    const read = operations.filter(
      ({ path, verb, operation }) =>
        verb === "GET" &&
        path.startsWith("/api/v1/") &&
        (!path.includes("{") || /^\/api\/v1\/accounts\/\{id\}(\/[a-z]+)?$/.test(path)) &&
        operation["x-tollgate-permission"] !== "person" &&
        answerSchema(operation) !== undefined,
    );
    expect(read.length).toBeGreaterThan(10);
    for (const { path, verb, operation } of read)
      await expectAnswer(verb, path.replace("{id}", EXAMPLE_ID), answerSchema(operation));
  });

  test("the examples of every client format answer as their schemas say", async () => {
    const asked = operations.filter(
      ({ path, operation }) => operation.requestBody !== undefined && !path.startsWith("/api/"),
    );
    expect(asked.length).toBeGreaterThan(10);
    const settings = { name: "examples", scopes: ["chat", "embeddings", "rerank", "moderations", "audio", "models"] };
    const key = await expectAnswer("POST", "/api/v1/keys", {}, { account_id: EXAMPLE_ID, settings });
    ids.set("secret", (key as { secret: string }).secret);
    for (const { path, verb, operation } of asked) {
      const model = /embed/i.test(path) ? "sim-embed-1" : "sim-1";
      const body = operation.requestBody?.content["application/json"].example;
      if (answerSchema(operation) === undefined) await expectSound(path, body);
      else await expectAnswer(verb, path.replace("{model}", model), answerSchema(operation), body);
    }
    for (const path of ["/v1/models", "/v1beta/models", "/v1/models/sim-1"])
      await expectAnswer(
        "GET",
        path,
        document.paths[path.replace("sim-1", "{model}")]?.["get"]?.responses["200"]?.content?.["application/json"]
          ?.schema,
      );
    ids.delete("secret");
  });
});
