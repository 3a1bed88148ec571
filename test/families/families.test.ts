/** What holds for every family, found by the list of families, and what each says of itself. */
import { describe, expect, test } from "vitest";
import { families } from "../../src/families/index.js";
import type { Family } from "../../src/families/family.js";
import { createHttpUpstream } from "../../src/upstream/http.js";
import { startFakeUpstream } from "../support/fake-upstream.js";
import { toy } from "../support/toy-family.js";
import { Listener } from "../upstream/listener.js";

const all: readonly Family[] = [...families, toy];
const SECRET = "sk-family-secret";

describe.each(all)("the family $name", (family) => {
  test("is served somewhere: at an address of its own, at one that is set, or in the process", () => {
    if (family.connect !== undefined) expect(family.baseUrl).toBeUndefined();
    else if (family.baseUrl !== undefined)
      expect(() => createHttpUpstream({ baseUrl: family.baseUrl ?? "" })).not.toThrow();
    // A family that is served with no settings file needs to know where.
    if (family.keyVariable !== undefined) expect(family.baseUrl).toBeDefined();
  });

  test("sends its key in a header and nowhere else", () => {
    const headers = family.headers(SECRET);
    if (family.needsKey && family.authorize === undefined) expect(JSON.stringify(headers)).toContain(SECRET);
    expect(JSON.stringify(family.headers(undefined))).not.toMatch(/undefined|null|Bearer/);
    for (const name of Object.keys(headers)) expect(name).toBe(name.toLowerCase());
  });

  test("keeps a model's name from changing the path", () => {
    for (const stream of [true, false]) {
      // What a family itself asks for in the query follows the model.
      const query = /\?.*$/.exec(family.generatePath("m", stream))?.[0] ?? "";
      const whole = family.generatePath("a/../b?c#d e", stream);
      expect(whole).toMatch(/^\/[\x21-\x7e]+$/);
      expect(whole.endsWith(query)).toBe(true);
      const path = whole.slice(0, whole.length - query.length);
      expect(path).not.toMatch(/[?#]|\.\.\/|\/\.\./);
    }
  });

  test("reads a list of models, and refuses what is none", () => {
    if (family.modelsPath === undefined) return;
    const bad = ["<html>", "{}", '{"data":[{"id":7}]}', '{"data":{}}', '{"models":[{"name":7}]}', '{"models":{}}'];
    for (const body of bad) expect(() => family.readModels(Buffer.from(body))).toThrow();
    // On a wire of its own a family has a list of its own, which its own test shows.
    if (family.wire.name !== "openai-chat") return;
    const body = {
      object: "list",
      data: [
        { id: "m-1", owned_by: "us", created: 5 },
        { id: "m-2", owned_by: null },
      ],
    };
    expect(family.readModels(Buffer.from(JSON.stringify(body)))).toEqual([
      { id: "m-1", owner: "us", createdSeconds: 5 },
      { id: "m-2", owner: undefined, createdSeconds: undefined },
    ]);
  });
});

// One time that no date can hold made every list of models fail.
test.each(all.filter(({ modelsPath }) => modelsPath !== undefined))(
  "$name takes no time from a list that has no place in a date",
  (family) => {
    const times = [
      "+275760-09-13T00:00:00Z",
      "-000001-01-01T00:00:00Z",
      "later",
      1e308,
      9e15,
      1_700_000_000_000,
      -1,
      0.5,
    ];
    for (const time of times) {
      const model = { id: "m", created: time, created_at: time, shutdown_date: time, retires_at: time };
      const lists = { data: [model], models: [{ ...model, name: "models/m" }] };
      for (const { createdSeconds = 0, retireTime } of family.readModels(Buffer.from(JSON.stringify(lists)))) {
        expect(new Date(createdSeconds * 1_000).toISOString()).toMatch(/^\d{4}-/);
        expect((retireTime ?? new Date(0)).toISOString()).toMatch(/^\d{4}-/);
      }
    }
  },
);

test("no two families share a name or a variable", () => {
  const names = all.map((family) => family.name);
  const variables = all.flatMap((family) => family.keyVariable ?? []);
  expect(new Set(names).size).toBe(names.length);
  expect(new Set(variables).size).toBe(variables.length);
});

test.each([
  {
    name: "openai",
    keyVariable: "OPENAI_API_KEY",
    baseUrl: "https://api.openai.com/v1",
    needsKey: true,
    pricedAs: "openai",
  },
  { name: "openai-compatible", keyVariable: undefined, baseUrl: undefined, needsKey: false, pricedAs: undefined },
  {
    name: "gemini",
    keyVariable: "GEMINI_API_KEY",
    baseUrl: "https://generativelanguage.googleapis.com",
    needsKey: true,
    abortStopsBilling: false,
    pricedAs: "google",
  },
  { name: "sim", keyVariable: undefined, baseUrl: undefined, needsKey: false, pricedAs: undefined },
])("$name is as the settings document it", ({ name, ...says }) => {
  expect(families.find((family) => family.name === name)).toMatchObject({
    ...says,
    generatePath: expect.any(Function),
  });
});

test("Google's models are those that generate or make vectors, by their plain names", () => {
  const gemini = families.find((family) => family.name === "gemini");
  const models = [
    { name: "models/gemini-9", supportedGenerationMethods: ["generateContent", "countTokens"], version: 1 },
    { name: "models/embedding-9", supportedGenerationMethods: ["embedContent"] },
    { name: "models/other-9" },
    { name: "models/video-9", supportedGenerationMethods: ["predictLongRunning"] },
  ];
  const listed = gemini?.readModels(Buffer.from(JSON.stringify({ models, nextPageToken: "x" })));
  expect(listed?.map(({ id, kind }) => [id, kind])).toEqual([
    ["gemini-9", "chat"],
    ["embedding-9", "embedding"],
    ["other-9", "chat"],
  ]);
});

test("a family in one file reaches its upstream through what is there", async () => {
  const fake = await startFakeUpstream();
  const upstream = createHttpUpstream({ baseUrl: fake.url });
  const heard = new Listener();
  const body = Buffer.from(JSON.stringify({ model: "bear", messages: [{ role: "user", content: "hi" }] }));
  upstream.send({ method: "POST", path: toy.generatePath("bear", false), headers: toy.headers("k"), body }, heard);
  await heard.ended;
  expect(fake.requests[0]).toMatchObject({
    url: "/v1/toys/bear/answer/chat/completions",
    headers: { "x-toy-key": "k" },
  });
  expect(toy.wire.decodeAnswer(Buffer.from(heard.text)).report.text).toBe("Hello from bear.");
  await upstream.close();
  await fake.close();
});
