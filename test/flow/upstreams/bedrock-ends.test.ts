/** How answers of Bedrock end, end to end: well, refused, amid an answer, or with nobody listening. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type BedrockWorld, startBedrockWorld } from "../../support/bedrock-world.js";
import { type BedrockScript, steer } from "../../support/fake-bedrock.js";

/** How each refusal is told: what the upstream says, and what the client hears. */
const REFUSED: readonly (BedrockScript & { readonly name: string; readonly hears: object })[] = [
  {
    name: "a validation",
    status: 400,
    errorType: "ValidationException",
    body: { message: "topP is out of range" },
    hears: { status: 400, message: expect.stringContaining("topP is out of range") },
  },
  {
    name: "an input that is too long",
    status: 400,
    errorType: "ValidationException",
    body: { message: "Input is too long for requested model." },
    hears: { status: 400, code: "context_length_exceeded" },
  },
  {
    name: "a limit, with the time to wait",
    status: 429,
    errorType: "ThrottlingException",
    headers: { "retry-after": "7" },
    body: { message: "Too many requests" },
    hears: { status: 429, headers: expect.toSatisfy((headers: Headers) => headers.get("retry-after") === "7") },
  },
  {
    name: "an access that is denied",
    status: 403,
    errorType: "AccessDeniedException",
    body: { message: "User arn:aws:iam::123456789012:user/us is not authorized" },
    hears: { status: 502, message: expect.not.stringContaining("arn:") },
  },
  {
    name: "a token that is over",
    status: 400,
    errorType: "ExpiredTokenException",
    body: { message: "The security token included in the request is expired" },
    hears: { status: 502 },
  },
  {
    name: "a model that nobody knows",
    status: 404,
    errorType: "ResourceNotFoundException",
    body: { message: "no such model" },
    hears: { status: 502, code: "upstream_error" },
  },
  {
    name: "a model that took too long",
    status: 408,
    errorType: "ModelTimeoutException",
    body: { message: "late" },
    hears: { status: 504 },
  },
  {
    name: "a model that failed",
    status: 424,
    errorType: "ModelErrorException",
    body: { message: "The model failed", originalStatusCode: 500 },
    hears: { status: 502 },
  },
  {
    name: "a service that is away",
    status: 503,
    errorType: "ServiceUnavailableException",
    body: { message: "later" },
    hears: { status: 503 },
  },
  { name: "a page of HTML", status: 500, body: "<html>oops</html>", hears: { status: 502 } },
];

let world: BedrockWorld;
beforeAll(async () => {
  world = await startBedrockWorld(["throttled", ...REFUSED.map((_, place) => `refusing-${place}`)]);
});
afterAll(() => world.close());

describe("the end of an answer", () => {
  test.each([
    { name: "the limit", script: { stopReason: "max_tokens" }, chat: "length", claude: "max_tokens" },
    {
      name: "a stop string",
      script: { stopReason: "stop_sequence", stopString: "END" },
      chat: "stop",
      claude: "stop_sequence",
    },
    { name: "a guardrail", script: { stopReason: "guardrail_intervened" }, chat: "content_filter", claude: "refusal" },
    { name: "a filter", script: { stopReason: "content_filtered" }, chat: "content_filter", claude: "refusal" },
    { name: "nothing said", script: { content: [] }, chat: "stop", claude: "end_turn" },
  ])("$name is told to both clients, whole and streamed", async ({ script, ...want }) => {
    for (const { choices } of [await world.ask(script), await world.streamed(script, { stop: ["END"] })])
      expect(choices[0]?.finish_reason).toBe(want.chat);
    const body = {
      model: "cloud-1",
      max_tokens: 10,
      stop_sequences: ["END"],
      messages: [{ role: "user" as const, content: steer(script) }],
    };
    for (const answer of [
      await world.claude.messages.create(body),
      await world.claude.messages.stream(body).finalMessage(),
    ]) {
      expect(answer.stop_reason).toBe(want.claude);
      expect(answer.stop_sequence).toBe("stopString" in script ? script.stopString : null);
    }
    expect(world.aws.requests.at(-1)?.body["additionalModelResponseFieldPaths"]).toEqual(["/stop_sequence"]);
  });

  test.each([
    { name: "a connection that is cut", script: { cutAfter: 4 } },
    { name: "a close amid a message", script: { bytes: 500 } },
    {
      name: "an exception",
      script: { exceptionAfter: { messages: 4, type: "modelStreamErrorException", message: "x" } },
    },
    {
      name: "a failure within",
      script: { exceptionAfter: { messages: 4, type: "internalServerException", message: "x" } },
    },
  ])("$name never looks like one", async ({ script }) => {
    await expect(world.streamed(script)).rejects.toThrow();
    const messages = [{ role: "user" as const, content: steer(script) }];
    await expect(
      world.claude.messages.stream({ model: "cloud-1", max_tokens: 10, messages }).finalMessage(),
    ).rejects.toThrow();
  });

  test("an exception before the first word is a refusal with its own status", async () => {
    const told = { messages: 0, type: "throttlingException", message: "x" };
    await expect(world.streamed({ exceptionAfter: told }, { model: "throttled-1" })).rejects.toMatchObject({
      status: 429,
    });
  });

  test("is read on for its usage when the client leaves, for it is billed to its end", async () => {
    const before = world.aws.sent;
    const script = { content: [{ text: "word ".repeat(40) }], delayMs: 5 };
    const stream = await world.chat.chat.completions.create({
      model: "cloud-1",
      messages: [{ role: "user", content: steer(script) }],
      stream: true,
    });
    for await (const _ of stream) break;
    // Each piece has 7 characters; 4 messages stand around them.
    await expect.poll(() => world.aws.sent - before).toBe(Math.ceil(200 / 7) + 4);
  });
});

test.each([...REFUSED.entries()])("refusal %i is told as what it is", async (place, { hears, ...script }) => {
  await expect(world.ask(script, `refusing-${place}-1`)).rejects.toMatchObject(hears);
});

test("a model that we have no access to leaves the others of its upstream in use", async () => {
  const denied = { status: 403, errorType: "AccessDeniedException", body: { message: "You don't have access." } };
  await expect(world.ask(denied)).rejects.toMatchObject({ status: 502 });
  expect((await world.ask("hi")).choices[0]?.message.content).toBe("Hello from Bedrock.");
});
