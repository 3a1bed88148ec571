/** Containers of code: one that was made for an account may be named by it, and by nobody else. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AnthropicWorld, startAnthropicWorld } from "../../support/anthropic-world.js";
import { steer } from "../../support/fake-anthropic.js";

const EXPIRES = "2030-01-01T00:00:00Z";

let world: AnthropicWorld;
beforeAll(async () => {
  world = await startAnthropicWorld();
});
afterAll(() => world.close());

const HEADERS = { "anthropic-version": "2023-06-01", "anthropic-beta": "code-execution-2025-08-25" };

function ask(more: object, said = "Go on.", secret = world.secret): Promise<Response> {
  const body = { model: "claude-sonnet-4-5", max_tokens: 50, messages: [{ role: "user", content: said }], ...more };
  return fetch(`${world.gateway.url}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": secret, ...HEADERS },
    body: JSON.stringify(body),
  });
}

/** Has the upstream make one. */
async function made(id: string, stream: boolean): Promise<void> {
  const answer = await ask({ stream }, steer({ container: { id, expires_at: EXPIRES, skills: null } }));
  expect(await answer.text()).toContain(id);
  expect(answer.status).toBe(200);
}

async function refusal(answer: Promise<Response>): Promise<string> {
  const { status, text } = await answer.then(async (told) => ({ status: told.status, text: await told.text() }));
  expect(status, text).toBe(400);
  return text;
}

describe.each([{ stream: false }, { stream: true }])(
  "a container that an answer named (stream: $stream)",
  ({ stream }) => {
    const id = `container_of_${stream ? "a_stream" : "a_whole"}`;

    test("may be named by its account, as a word and as an object, with any key of it", async () => {
      await made(id, stream);
      const { secret } = await world.management.makeKey("acme");
      for (const [container, key] of [
        [id, world.secret],
        [{ id }, world.secret],
        [{ id, skills: null }, secret],
      ] as const) {
        expect((await ask({ container, stream }, "Go on.", key)).status).toBe(200);
        expect(world.upstream.requests.at(-1)?.body["container"]).toEqual(container);
      }
    });

    test("is refused to another account, by its place", async () => {
      await made(id, stream);
      await world.management.account(`other-${stream}`, 100_000_000n);
      const { secret } = await world.management.makeKey(`other-${stream}`);
      const before = world.upstream.requests.length;
      expect(await refusal(ask({ container: id }, "x", secret))).toContain("'container'");
      expect(await refusal(ask({ container: { id } }, "x", secret))).toContain("'container.id'");
      expect(world.upstream.requests).toHaveLength(before);
    });
  },
);

test("a call that a program made goes on in its container, with who made the call", async () => {
  await made("container_of_a_program", false);
  const caller = { type: "code_execution_20260120", tool_id: "srvtoolu_1" };
  const tools = [{ name: "look", input_schema: { type: "object" }, allowed_callers: ["code_execution_20260120"] }];
  const messages = [
    { role: "user", content: "Look at it." },
    { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "look", input: {}, caller }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "seen" }] },
  ];
  const answer = await ask({ container: "container_of_a_program", tools, messages });
  expect(answer.status, await answer.text()).toBe(200);
  expect(world.upstream.requests.at(-1)?.body).toMatchObject({ container: "container_of_a_program", tools, messages });
});

test("it holds for a long body as well", async () => {
  await made("container_of_a_long_body", false);
  const long = [{ role: "user", content: "words and ".repeat(30_000) }];
  expect((await ask({ container: "container_of_a_long_body", messages: long })).status).toBe(200);
  expect(await refusal(ask({ container: "container_of_nobody", messages: long }))).toContain("'container'");
});

test.each([
  { name: "none", container: null },
  { name: "an object that says nothing", container: {} },
  {
    name: "skills of Anthropic's own",
    container: { skills: [{ type: "anthropic", skill_id: "xlsx", version: "latest" }] },
  },
])("$name passes", async ({ container }) => {
  expect((await ask({ container })).status).toBe(200);
});

test.each([
  { name: "a container of nobody's", container: "container_1", param: "'container'" },
  {
    name: "skills of the operator's",
    container: { skills: [{ type: "custom", skill_id: "s" }] },
    param: "'container.skills'",
  },
  { name: "what a container does not have", container: { memory: 1 }, param: "'container.memory'" },
  { name: "a number", container: 7, param: "'container'" },
])("$name is refused, by its place", async ({ container, param }) => {
  expect(await refusal(ask({ container }))).toContain(param);
});

test("another family refuses it, since it has no containers", async () => {
  await made("container_elsewhere", false);
  expect(await refusal(ask({ container: "container_elsewhere", model: "fake-1" }))).toContain("'container'");
});
