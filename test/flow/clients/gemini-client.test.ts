/** Google's official client, on an upstream of its own wire and on one of OpenAI's. */
import { ApiError, type Content, type GenerateContentResponse } from "@google/genai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { steer } from "../../support/fake-gemini.js";
import { script } from "../../support/fake-upstream.js";
import { type GeminiWorld, GOOGLE_SECRET, startGeminiWorld } from "../../support/gemini-world.js";

const WEATHER = {
  name: "weather",
  description: "Says how it is outside.",
  parametersJsonSchema: { type: "object", properties: { city: { type: "string" } } },
};
const PNG = "iVBORw0KGgoAAAANSUhEUg==";

let world: GeminiWorld;
beforeAll(async () => {
  world = await startGeminiWorld();
});
afterAll(() => world.close());

const user = (...parts: object[]): Content => ({ role: "user", parts });

/** The same call, whole or streamed: the chunks run together. */
async function ask(
  stream: boolean,
  model: string,
  contents: Content[] | string,
  config: object = {},
): Promise<{ parts: object[]; text: string; thoughts: string; finish: unknown; last: GenerateContentResponse }> {
  const { models } = world.genai;
  const chunks: GenerateContentResponse[] = [];
  if (!stream) chunks.push(await models.generateContent({ model, contents, config }));
  else for await (const chunk of await models.generateContentStream({ model, contents, config })) chunks.push(chunk);
  const parts = chunks.flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? []);
  const texts = (thought: boolean): string =>
    parts
      .filter((part) => (part.thought === true) === thought)
      .map((part) => part.text ?? "")
      .join("");
  return {
    parts,
    text: texts(false),
    thoughts: texts(true),
    finish: chunks.map((chunk) => chunk.candidates?.[0]?.finishReason).findLast((reason) => reason !== undefined),
    last: chunks.at(-1)!,
  };
}

const calls = (parts: readonly object[]): { id: string; name: string; args: object }[] =>
  parts.flatMap((part) =>
    "functionCall" in part ? [part.functionCall as { id: string; name: string; args: object }] : [],
  );

const sentChat = (): { messages: object[]; [key: string]: unknown } =>
  world.openai.requests.at(-1)!.body as { messages: object[] };

describe.each([
  { form: "whole", stream: false },
  { form: "streamed", stream: true },
])("on a Gemini upstream, $form", ({ stream }) => {
  test("text, usage and the end", async () => {
    const answer = await ask(stream, "gemini-3-flash", "Hello", { temperature: 0.5 });
    expect(answer).toMatchObject({ text: "Hello from gemini-3-flash.", finish: "STOP" });
    expect(answer.last.usageMetadata).toMatchObject({ promptTokenCount: 10, candidatesTokenCount: 4 });
    expect(world.google.requests.at(-1)).toMatchObject({
      url: `/v1beta/models/gemini-3-flash:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
      headers: { "x-goog-api-key": GOOGLE_SECRET },
      body: { generationConfig: { temperature: 0.5, maxOutputTokens: 1000 } },
    });
    expect(JSON.stringify(world.google.requests.at(-1))).not.toContain(world.secret);
  });

  test("calls with their signatures", async () => {
    const part = { functionCall: { name: "weather", args: { city: "Oslo" } }, thoughtSignature: "c2ln" };
    const answer = await ask(stream, "gemini-3-flash", [user({ text: steer({ parts: [part] }) })]);
    expect(answer.parts).toContainEqual(part);
  });

  test("a prompt that is refused", async () => {
    const contents = [user({ text: steer({ blocked: "SAFETY" }) })];
    const answer = await ask(stream, "gemini-3-flash", contents);
    expect(answer.last.promptFeedback?.blockReason).toBe("SAFETY");
  });
});

describe.each([
  { form: "whole", stream: false },
  { form: "streamed", stream: true },
])("on an OpenAI upstream, $form", ({ stream }) => {
  test("text, system, settings and usage", async () => {
    const config = { systemInstruction: "Be brief.", temperature: 0.5, topP: 0.9, stopSequences: ["END"], seed: 7 };
    const answer = await ask(stream, "fake-1", "Hello", { ...config, maxOutputTokens: 50 });
    expect(answer).toMatchObject({ text: "Hello from fake-1.", finish: "STOP" });
    expect(answer.last.usageMetadata).toMatchObject({
      promptTokenCount: 10,
      candidatesTokenCount: 4,
      totalTokenCount: 14,
    });
    expect(sentChat()).toMatchObject({
      model: "fake-1",
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Hello" },
      ],
      temperature: 0.5,
      top_p: 0.9,
      stop: ["END"],
      seed: 7,
      max_tokens: 50,
    });
  });

  test("one tool, and two at once with ids of their own", async () => {
    const two = [
      { name: "weather", arguments: '{"city":"Oslo"}' },
      { name: "weather", arguments: '{"city":"Rome"}' },
    ];
    for (const wanted of [two.slice(0, 1), two]) {
      const contents = [user({ text: script({ calls: wanted }) })];
      const answer = await ask(stream, "fake-1", contents, { tools: [{ functionDeclarations: [WEATHER] }] });
      const got = calls(answer.parts);
      expect(got.map(({ name, args }) => ({ name, arguments: JSON.stringify(args) }))).toEqual(wanted);
      expect(new Set(got.map(({ id }) => id)).size).toBe(wanted.length);
      expect(answer.finish).toBe("STOP");
    }
    expect(sentChat()["tools"]).toEqual([
      {
        type: "function",
        function: { name: "weather", description: WEATHER.description, parameters: WEATHER.parametersJsonSchema },
      },
    ]);
  });

  test("a loop of three turns, with and without ids", async () => {
    for (const withIds of [true, false]) {
      const contents = [
        user({ text: script({ calls: [{ name: "weather", arguments: "{}" }], id: `${stream}${withIds}`, times: 3 }) }),
      ];
      for (let turn = 0; turn < 3; turn++) {
        const [call] = calls((await ask(stream, "fake-1", contents)).parts);
        const { id, name = "", args = {} } = call ?? {};
        const named = withIds && id !== undefined ? { id } : {};
        contents.push({ role: "model", parts: [{ functionCall: { ...named, name, args: { ...args } } }] });
        contents.push(user({ functionResponse: { ...named, name, response: { output: `rain ${turn}` } } }));
      }
      expect((await ask(stream, "fake-1", contents)).text).toBe("Hello from fake-1.");
      const told = sentChat().messages as {
        role: string;
        content: string;
        tool_call_id?: string;
        tool_calls?: { id: string }[];
      }[];
      const ids = told.flatMap((message) => message.tool_calls?.map(({ id }) => id) ?? []);
      const results = told.filter(({ role }) => role === "tool");
      expect(results.map(({ content }) => content)).toEqual(["rain 0", "rain 1", "rain 2"]);
      expect(results.map(({ tool_call_id: id }) => id)).toEqual(ids);
    }
  });

  test("a picture, a schema and thinking", async () => {
    const schema = { type: "OBJECT", properties: { city: { type: "STRING", nullable: true } }, required: ["city"] };
    const contents = [
      user({ text: script({ thinking: "Hmm.", text: "{}" }) }, { inlineData: { mimeType: "image/png", data: PNG } }),
    ];
    const config = { responseMimeType: "application/json", responseSchema: schema };
    const answer = await ask(stream, "fake-1", contents, config);
    expect(answer).toMatchObject({ text: "{}", thoughts: "Hmm." });
    expect(sentChat()).toMatchObject({
      messages: [{ content: [{ type: "text" }, { image_url: { url: `data:image/png;base64,${PNG}` } }] }],
      response_format: {
        type: "json_schema",
        json_schema: {
          name: "response",
          schema: { type: "object", properties: { city: { type: ["string", "null"] } }, required: ["city"] },
        },
      },
    });
  });

  test.each([
    { end: "a length stop", fake: { text: "cut", finish: "length" }, finish: "MAX_TOKENS", text: "cut" },
    { end: "a refusal", fake: { text: "", finish: "content_filter" }, finish: "SAFETY", text: "" },
    { end: "an empty answer", fake: { text: "" }, finish: "STOP", text: "" },
  ])("$end", async ({ fake, finish, text }) => {
    const answer = await ask(stream, "fake-1", [user({ text: script(fake) })]);
    expect(answer).toMatchObject({ finish, text });
  });

  test("an upstream's failure is Google's error", async () => {
    const refused = user({ text: script({ status: 429, headers: { "retry-after": "7" } }) });
    const failed = ask(stream, `refusing-fake-${stream ? "a" : "b"}`, [refused]);
    await expect(failed).rejects.toSatisfy((error: ApiError) => error instanceof ApiError && error.status === 429);
  });
});

test("a stream that is cut ends in an error, on either wire", async () => {
  for (const [model, text] of [
    ["fake-1", script({ words: 9, cutAfter: 4 })],
    ["gemini-3-flash", steer({ parts: [{ text: "a" }, { text: "b" }], cutAfter: 2 })],
    ["gemini-3-flash", steer({ finish: "" })],
  ] as const)
    await expect(ask(true, model, [user({ text })])).rejects.toThrow(/UNAVAILABLE/);
});

test("what the client wrote reaches its own upstream byte for byte, but for the limit", async () => {
  const body = (limit: string): string =>
    `{ "contents":[{"parts":[{"text":"Hi","x_new":1.50}]}],\n "generation_config" : ` +
    `{"max_output_tokens":${limit},"xNew":1e2 }, "safety_settings":[] }`;
  const response = await world.post("/v1beta/models/gemini-3-flash:generateContent", body("5000"));
  expect(response.status).toBe(200);
  expect(world.google.requests.at(-1)?.raw).toBe(body("1000"));
});

test("tokens are counted in Google's shape, free of charge, by the body itself or a request in it", async () => {
  const before = await world.management.balance("acme");
  const counted = await world.genai.models.countTokens({ model: "fake-1", contents: "Hello there" });
  expect(counted.totalTokens).toBeGreaterThan(1);
  const wrapped = { generateContentRequest: { model: "models/fake-1", contents: [user({ text: "Hello there" })] } };
  const response = await world.post("/v1beta/models/fake-1:countTokens", wrapped);
  expect(response.headers.get("x-tollgate-token-count")).toBe("estimated");
  expect(await response.json()).toEqual({ totalTokens: counted.totalTokens });
  expect(await world.management.balance("acme")).toEqual(before);
});

test("tokens of Google's own models are counted by Google, whichever client asks", async () => {
  const exact = await world.post("/v1beta/models/gemini-3-flash:countTokens", { contents: [user({ text: "Hello" })] });
  expect(exact.headers.get("x-tollgate-token-count")).toBe("exact");
  expect(await exact.json()).toEqual({ totalTokens: 17 });
  const body = { model: "org/deep-1", messages: [{ role: "user", content: "Hello" }] };
  const headers = { "x-api-key": world.secret, "anthropic-version": "2023-06-01" };
  const other = await world.post("/v1/messages/count_tokens", body, headers);
  expect(await other.json()).toEqual({ input_tokens: 17 });
  expect(world.google.requests.at(-1)).toMatchObject({
    url: "/v1beta/models/gemini-3-renamed:countTokens",
    body: { generateContentRequest: { model: "models/gemini-3-renamed" } },
  });
});

test.each([
  { name: "x-goog-api-key", path: "/v1beta/models/org/deep-1:generateContent" },
  { name: "x-api-key", path: "/v1beta/models/org%2Fdeep-1:generateContent" },
  { name: "query", path: "/v1beta/models/gemini-3-flash:generateContent" },
])("the key is taken from $name", async ({ name, path }) => {
  const contents = [user({ text: "Hi" })];
  const isQuery = name === "query";
  const url = isQuery ? `${path}?key=${world.secret}` : path;
  const response = await world.post(url, { contents }, isQuery ? {} : { [name]: world.secret });
  expect(response.status).toBe(200);
});

test.each([
  { param: "continuationToken", body: { continuation_token: "t" } },
  { param: "generationConfig.responseModalities", body: { generation_config: { response_modalities: ["IMAGE"] } } },
])("$param is refused where the model is not Google's, and passes where it is", async ({ param, body }) => {
  const asked = { contents: [user({ text: "Hi" })], ...body };
  expect((await world.post("/v1beta/models/gemini-3-flash:generateContent", asked)).status).toBe(200);
  const response = await world.post("/v1beta/models/fake-1:generateContent", asked);
  expect(response.status).toBe(400);
  const details = [{ reason: "PARAMETER_UNSUPPORTED" }, { fieldViolations: [{ field: param }] }];
  expect(await response.json()).toMatchObject({ error: { status: "INVALID_ARGUMENT", details } });
});

test("what Google keeps is not taken by its name, wherever the model is", async () => {
  for (const model of ["gemini-3-flash", "fake-1"]) {
    const asked = { contents: [user({ text: "Hi" })], cached_content: "cachedContents/1" };
    const response = await world.post(`/v1beta/models/${model}:generateContent`, asked);
    expect(response.status).toBe(400);
    expect(await response.text()).toMatch(/cached_?[cC]ontent/);
  }
});

test("a stream without events is one list, and a cut one is no list at all", async () => {
  const path = (model: string): string => `/v1beta/models/${model}:streamGenerateContent`;
  for (const model of ["gemini-3-flash", "fake-1"]) {
    const response = await world.post(path(model), { contents: [user({ text: "Hi" })] });
    expect(response.headers.get("content-type")).toContain("application/json");
    const chunks = (await response.json()) as { candidates?: { content: { parts: { text?: string }[] } }[] }[];
    const text = chunks.flatMap((chunk) => chunk.candidates?.[0]?.content.parts ?? []).map((part) => part.text ?? "");
    expect(text.join("")).toBe(`Hello from ${model}.`);
  }
  const cut = await world.post(path("gemini-3-flash"), { contents: [user({ text: steer({ finish: "" }) })] });
  const text = await cut.text();
  expect(text).toContain('"status":"UNAVAILABLE"');
  expect(() => JSON.parse(text)).toThrow(SyntaxError);
});

test.each([
  { name: "no key", path: "gemini-3-flash", body: {}, headers: {}, status: 401, google: "UNAUTHENTICATED" },
  {
    name: "an unknown model",
    path: "none",
    body: { contents: [user({ text: "Hi" })] },
    status: 404,
    google: "NOT_FOUND",
  },
  { name: "no contents", path: "gemini-3-flash", body: {}, status: 400, google: "INVALID_ARGUMENT" },
  { name: "no JSON", path: "gemini-3-flash", body: "{", status: 400, google: "INVALID_ARGUMENT" },
  {
    name: "a limit in two spellings",
    path: "gemini-3-flash",
    body: { contents: [user({ text: "Hi" })], generationConfig: { maxOutputTokens: 5, max_output_tokens: 9000 } },
    status: 400,
    google: "INVALID_ARGUMENT",
  },
])("$name is refused in Google's envelope", async ({ path, body, headers, status, google }) => {
  const response = await world.post(`/v1beta/models/${path}:generateContent`, body, headers);
  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject({ error: { code: status, status: google, message: expect.any(String) } });
});

test("every call was charged once, and nothing stays held", async () => {
  await world.management.verify();
  expect((await world.management.balance("acme")).heldNanos).toBe(0n);
});
