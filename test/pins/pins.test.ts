/** Which clients are compared with the registry, and that the page of clients names the versions that are pinned. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { NODE_CLIENTS, PYTHON_CLIENTS } from "../frameworks/clients.js";
import { AGENTS } from "../agents/agent.js";
import { clientsPart } from "../support/clients-page.js";
import { expectMadeBelow } from "../support/reference-page.js";
import { behind, clientsIn, isMajor, MANIFESTS, pythonClientsIn, REQUIREMENTS } from "./pins.mjs";

const read = (path: string): string => readFileSync(path, "utf8");

test("the SDKs of the program's own manifest are clients, and nothing else of it", () => {
  const names = clientsIn(JSON.parse(read("package.json"))).map(({ name }) => name);
  const sdks = ["@ai-sdk/anthropic", "@ai-sdk/openai", "@anthropic-ai/sdk", "@google/genai", "ai", "openai"];
  expect(names.toSorted()).toEqual(sdks);
});

test("all that agents and frameworks depend on are clients", () => {
  const { dependencies } = JSON.parse(read("test/agents/package.json")) as { dependencies: Record<string, string> };
  expect(clientsIn({ dependencies }).map(({ name }) => name)).toEqual(Object.keys(dependencies));
});

test("every line of Python's requirements is a client by its exact version", () => {
  for (const path of REQUIREMENTS) {
    const lines = read(path).trim().split("\n");
    expect(pythonClientsIn(read(path)).map(({ name, pinned }) => `${name}==${pinned}`)).toEqual(lines);
  }
});

test("every package that is pinned for the tests of clients is run by one of them", () => {
  const pinned = MANIFESTS.slice(1).flatMap((path) => clientsIn(JSON.parse(read(path))));
  const python = REQUIREMENTS.flatMap((path) => pythonClientsIn(read(path)));
  const run = new Set([
    ...[...NODE_CLIENTS, ...PYTHON_CLIENTS].flatMap(({ packages }) => packages),
    ...AGENTS.map((agent) => agent.package),
    // What their programs write schemas with.
    "zod",
  ]);
  expect([...pinned, ...python].map(({ name }) => name).filter((name) => !run.has(name))).toEqual([]);
});

test("the page of clients tells what ran, by the versions that are pinned", () => {
  expectMadeBelow("docs/clients.md", clientsPart());
});

test.each([
  { name: "openai", pinned: "6.49.0", newest: "7.59.0", is: { behind: true, major: true } },
  { name: "openai", pinned: "7.58.0", newest: "7.59.0", is: { behind: true, major: false } },
  { name: "openai", pinned: "7.59.0", newest: "7.59.0", is: { behind: false, major: false } },
  // It waits for a newer Node.
  { name: "ai", pinned: "6.0.322", newest: "7.0.173", is: { behind: true, major: false } },
])("$name $pinned where the newest is $newest", ({ is, ...row }) => {
  expect({ behind: behind(row), major: isMajor(row) }).toEqual(is);
});

test("the page of clients says when the pins were last compared, and names each SDK as it is pinned", () => {
  const page = read("docs/clients.md");
  expect(page).toMatch(/`npm run pins` last ran on\s\d{4}-\d{2}-\d{2}/);
  const words = page.replaceAll(/\s+/g, " ");
  for (const { name, pinned } of clientsIn(JSON.parse(read("package.json"))))
    expect(words).toContain(`\`${name}\` ${pinned}`);
});
