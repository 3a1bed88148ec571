/** The playground on its own route: streamed, stopped, compared, refused; and the way there from the first link. */
import type { Page } from "playwright-core";
import { chromium } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { money } from "../../../console/format.js";
import { type FakeScript, script } from "../../support/fake-upstream.js";
import { startGateway } from "../../support/gateway-process.js";
import { violationsOf } from "./axe.js";
import { PERSON } from "./person.js";
import { CHROMIUM } from "./setup.js";
import { contextOf, joinWorld, SCRIPT_NAME, type World } from "./world.js";

const CLICKS_MAX = 6;
/** A picture of one pixel. */
const DOT = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
let world: World;
beforeAll(async () => {
  world = await joinWorld("playground", 0);
});
afterAll(() => world.close());

test("an answer streams in, its estimate stands before it and its receipt after it", async () => {
  const page = await world.open("/playground?model=fake-1");
  const routes: string[] = [];
  page.on("request", (request) => routes.push(new URL(request.url()).pathname));
  await page.getByLabel("Message", { exact: true }).fill(script({ words: 8, eventDelayMs: 1_000 }));
  await page.getByText(/^fake-1: .* costs? about /).waitFor();
  await page.getByRole("button", { name: "Send", exact: true }).click();
  // Its beginning is seen while the rest is still to come.
  const answer = page.locator("article .columns .answer-text");
  await expect.poll(() => answer.textContent()).toMatch(/^word0/);
  expect(await page.getByRole("button", { name: "Stop" }).isVisible()).toBe(true);
  await expect.poll(() => answer.textContent()).toBe("word0 word1 word2 word3 word4 word5 word6 word7");
  expect(routes).toContain("/api/v1/accounts/playground/playground/chat/completions");
  expect(routes.filter((route) => route.startsWith("/v1/"))).toEqual([]);
  const receipt = page.locator(".receipt");
  await receipt.getByText("tokens").waitFor();
  await receipt.getByRole("link", { name: "See the request" }).click();
  await page.getByRole("heading", { name: "Ledger entries" }).waitFor();
  const id = page.url().split("/").at(-1)?.split("?")[0] ?? "";
  const { request } = await world.api<{ request: { charged_nanos: string; state: string } }>(`/api/v1/requests/${id}`);
  expect(request.state).toBe("settled");
  await page
    .getByText(money(BigInt(request.charged_nanos)))
    .first()
    .waitFor();
  await page.context().close();
});

test("it is stopped, and what came stays and is charged", async () => {
  const page = await world.open("/playground?model=fake-1");
  await page.getByLabel("Message", { exact: true }).fill(script({ words: 30, eventDelayMs: 1_000 }));
  await page.getByRole("button", { name: "Send", exact: true }).click();
  const answer = page.locator("article .columns .answer-text");
  await expect.poll(() => answer.textContent()).toMatch(/^word0/);
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByText("Stopped.").waitFor();
  expect(await answer.textContent()).not.toContain("word29");
  await page.context().close();
});

test("two models answer side by side, by keyboard alone", async () => {
  const page = await world.open("/playground?model=sim-1&beside=sim-small");
  await page.getByLabel("Message", { exact: true }).waitFor();
  await page.keyboard.type("Hello.");
  await page.keyboard.press("Enter");
  await expect.poll(() => page.locator(".receipt").count()).toBe(2);
  await page.context().close();
});

test("what an upstream says of a failure is text, and the way on is said", async () => {
  const page = await world.open("/playground?model=fake-1");
  const body = JSON.stringify({ error: { message: SCRIPT_NAME, type: "invalid_request_error" } });
  await page.getByLabel("Message", { exact: true }).fill(script({ status: 400, body }));
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByText("The request failed.").waitFor();
  expect(await page.getByRole("alert").textContent()).toContain(SCRIPT_NAME);
  await page.context().close();
});

test("Markdown is rendered, its HTML stays text, and nothing in it loads by itself", async () => {
  const page = await world.open("/playground?model=fake-1", { permissions: ["clipboard-read", "clipboard-write"] });
  const code = "const one = 1;";
  const text = `**bold** ${SCRIPT_NAME} ![far](https://example.com/a.png) [bad](javascript:window.ran=true)`;
  await ask(page, {
    text: `${text}\n\n\`\`\`ts\n${code}\n\`\`\`\n\n| a | b |\n|---|---|\n| 1 | 2 |`,
    thinking: "Hmm, let me see.",
  });
  const answer = page.locator("article .markdown");
  await answer.locator("strong", { hasText: "bold" }).waitFor();
  await answer.getByRole("cell", { name: "2" }).waitFor();
  expect(await answer.locator("img").count()).toBe(0);
  expect(await answer.textContent()).toContain(SCRIPT_NAME);
  expect(await answer.getByText("bad").getAttribute("href")).toBe("");
  await answer.getByRole("button", { name: "Copy" }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(code);
  const thought = page.getByText("Hmm, let me see.", { exact: true }).last();
  expect(await thought.isVisible()).toBe(false);
  await page.getByText("Reasoning", { exact: true }).click();
  await thought.waitFor();
  expect(await violationsOf(page)).toEqual([]);
  await page.context().close();
});

test("a message is edited, retried and deleted, and the call as code has every turn", async () => {
  const page = await world.open("/playground?model=fake-1");
  await ask(page, { text: "First answer." });
  await page.getByText("First answer.", { exact: true }).waitFor();
  await ask(page, { text: "Second answer." });
  await page.locator(".answers").getByText("Second answer.", { exact: true }).waitFor();
  await page.getByText("The same call as code").click();
  for (const client of ["curl", "Python, openai", "TypeScript, openai", "Go, net/http"]) {
    await page.getByLabel("Client").selectOption({ label: client });
    const shown = (await page.getByRole("region", { name: "The same call as code" }).textContent()) ?? "";
    expect(shown.split("answer.").length - 1, client).toBeGreaterThanOrEqual(3);
    expect(shown, client).toContain("assistant");
  }
  await page.getByRole("button", { name: "Retry" }).first().click();
  await expect.poll(() => page.locator("article").count()).toBe(1);
  await page.locator(".receipt").getByText("tokens").waitFor();
  await page.getByRole("button", { name: "Edit", exact: true }).click();
  await page.getByLabel("Message", { exact: true }).fill(script({ text: "Another answer." }));
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.locator(".answers").getByText("Another answer.", { exact: true }).waitFor();
  expect(await page.locator("article").count()).toBe(1);
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await expect.poll(() => page.locator("article").count()).toBe(0);
  await page.context().close();
});

test("a tool call is shown, its result is typed, and the model goes on", async () => {
  const page = await world.open("/playground?model=fake-1");
  await page.getByText("Tools and JSON schema").click();
  await page.getByLabel("Tools", { exact: true }).fill("[{]");
  await page.getByText("This is not valid JSON").waitFor();
  await page.getByRole("button", { name: "Insert an example" }).click();
  const calls = [{ name: "get_weather", arguments: '{"city":"Oslo"}' }];
  const turns = [{ calls }, { text: "It rains." }];
  await ask(page, { id: `tools-${Date.now()}`, turns });
  await page.getByLabel("Result of get_weather").fill("rain");
  const sent = page.waitForRequest(/playground\/chat/);
  await page.getByRole("button", { name: "Send the results" }).click();
  const { messages, tools } = (await sent).postDataJSON() as { messages: object[]; tools: object[] };
  expect(messages.at(-1)).toMatchObject({ role: "tool", content: "rain" });
  expect(tools).toMatchObject([{ type: "function", function: { name: "get_weather" } }]);
  await page.locator(".answers").getByText("It rains.", { exact: true }).waitFor();
  await page.context().close();
});

test("pictures and files are added within bounds, and sent with the message", async () => {
  const page = await world.open("/playground?model=fake-1");
  const file = page.locator("input[type=file]");
  await file.setInputFiles([
    { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("x") },
    { name: "large.pdf", mimeType: "application/pdf", buffer: Buffer.alloc(5 * 1_024 * 1_024) },
    { name: "dot.png", mimeType: "image/png", buffer: DOT },
  ]);
  await page.getByText("notes.txt was not added.").waitFor();
  await page.getByText("large.pdf was not added.").waitFor();
  await page.getByRole("button", { name: "Remove dot.png" }).waitFor();
  const sent = page.waitForRequest(/playground\/chat/);
  await ask(page, { text: "A dot." });
  const { messages } = (await sent).postDataJSON() as { messages: { content: object[] }[] };
  expect(messages[0]?.content[0]).toMatchObject({ type: "image_url" });
  await page.locator("article .attachments").getByText("dot.png").waitFor();
  await page.getByRole("button", { name: "Copy a link to this" }).click();
  await page.getByText("It does not contain pictures and files.").waitFor();
  await page.context().close();
});

test("a link and a preset bring back models, parameters and the conversation", async () => {
  const page = await world.open("/playground?model=fake-1&beside=sim-free");
  await page.getByLabel("Instructions").fill("Be brief. Ünï");
  await ask(page, { text: "Shared answer." });
  await page.locator(".receipt").first().getByText("tokens").waitFor();
  await page.getByText("Presets", { exact: true }).click();
  await page.getByLabel("Name of a new preset").fill("brief");
  await page.getByRole("button", { name: "Save the preset" }).click();
  await page.getByRole("button", { name: "Copy a link to this" }).click();
  await page.waitForURL(/#shared=/);
  const other = await page.context().newPage();
  await other.goto(page.url());
  await other.locator(".answers").getByText("Shared answer.", { exact: true }).waitFor();
  expect(await other.getByLabel("Instructions").inputValue()).toBe("Be brief. Ünï");
  await world.go(other, "/playground?model=sim-1");
  await other.getByText("Presets", { exact: true }).click();
  await other.getByLabel("Preset", { exact: true }).selectOption("brief");
  expect(await other.getByLabel("Instructions").inputValue()).toBe("Be brief. Ünï");
  await expect.poll(() => other.getByLabel("Compare with").inputValue()).toBe("sim-free");
  await page.context().close();
});

test("an account without money is refused before anything is typed, with what to do", async () => {
  const id = "playground-poor";
  await world.api("/api/v1/accounts", { id, name: "Poor" });
  const page = await world.open("/");
  await page.goto(`${world.url}/console/playground?model=fake-1&account=${id}`);
  await page.getByText("You cannot send a message now.").waitFor();
  expect(await page.getByLabel("Message", { exact: true }).isDisabled()).toBe(true);
  await page.getByRole("link", { name: "See the balance" }).waitFor();
  expect(await violationsOf(page)).toEqual([]);
  await page.context().close();
});

test.each([
  { width: 1_440, colorScheme: "light" },
  { width: 360, colorScheme: "dark" },
] as const)("a conversation fits $width pixels, $colorScheme, and is accessible", async ({ width, colorScheme }) => {
  const viewport = { width, height: 900 };
  const page = await world.open("/playground?model=fake-1&beside=sim-small&third=sim-free", { viewport, colorScheme });
  const text = `Read this:\n\n\`\`\`ts\n${"const long = 1; ".repeat(12)}\n\`\`\`\n\n1. one\n2. two\n\n> quoted`;
  await ask(page, { text, thinking: "Let me think." });
  await expect.poll(() => page.locator(".receipt").getByText("tokens").count()).toBe(3);
  for (const name of ["Parameters", "Tools and JSON schema", "Presets", "The same call as code"])
    await page.getByText(name, { exact: true }).click();
  await world.keepPicture(page, `conversation-${colorScheme}-${width}`);
  expect(await violationsOf(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBeLessThanOrEqual(0);
  await page.context().close();
});

test("from the first link to a streamed answer it takes six clicks at most", async () => {
  const gateway = await startGateway();
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  const complaints: string[] = [];
  const page = await (await contextOf(browser, complaints, {})).newPage();
  try {
    let clicks = 0;
    const click = async (name: string, role: "button" | "link" = "button"): Promise<void> => {
      clicks += 1;
      await page.getByRole(role, { name, exact: true }).first().click();
    };
    // What the gateway tells a person may come after the word that it is ready.
    const told = (): string => /https?:\S+\/console\/welcome#\S+/.exec(gateway.told.join("\n"))?.[0] ?? "";
    await expect.poll(told).not.toBe("");
    const link = told();
    clicks += 1;
    await page.goto(link);
    await fill(page, "Your name", PERSON.name);
    await fill(page, "E-mail", PERSON.email);
    await fill(page, "Password", PERSON.password);
    await click("Become the operator");
    await fill(page, "Id", "acme");
    await click("Create the account");
    await click("Playground", "link");
    await fill(page, "Message", "Say hello.");
    await click("Send");
    await page.locator(".receipt").getByText("tokens").waitFor();
    expect(clicks).toBeLessThanOrEqual(CLICKS_MAX);
    expect(complaints).toEqual([]);
  } finally {
    await browser.close();
    await gateway.stop();
  }
});

async function fill(page: Page, label: string, text: string): Promise<void> {
  await page.getByLabel(label, { exact: true }).fill(text);
}

/** Sends a message that steers the fake upstream. */
async function ask(page: Page, steps: FakeScript): Promise<void> {
  await page.getByLabel("Message", { exact: true }).fill(script(steps));
  await page.getByRole("button", { name: "Send", exact: true }).click();
}
