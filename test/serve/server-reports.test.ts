/** What servers of one's own report, in their real shapes, and what the gateway keeps of it. */
import { afterEach, beforeEach, expect, test } from "vitest";
import type { UpstreamSettings } from "../../src/config/settings.js";
import type { Family } from "../../src/families/family.js";
import { llamacpp } from "../../src/families/llamacpp.js";
import { ollama } from "../../src/families/ollama.js";
import { vllm } from "../../src/families/vllm.js";
import type { ServedUpstream } from "../../src/routing/model.js";
import { ServerReports } from "../../src/serve/server-reports.js";
import { createHttpUpstream } from "../../src/upstream/http.js";
import { modelOf, targetOf } from "../routing/served.js";
import {
  llamaReports,
  OLLAMA_REPORTS,
  type OwnServer,
  type Reports,
  SGLANG_REPORTS,
  startOwnServer,
  vllmReports,
} from "../support/own-servers.js";

let server: OwnServer;
let nowMs: number;
let factsCount: number;
let warnings: unknown[];
let served: ServedUpstream;

beforeEach(() => {
  nowMs = 1_000_000;
  factsCount = 0;
  warnings = [];
});
afterEach(async () => {
  await served.upstream.close();
  await server.close();
});

async function readerOf(family: Family, reports: Reports, declared?: number): Promise<ServerReports> {
  server = await startOwnServer(reports);
  const target = targetOf(createHttpUpstream({ baseUrl: `${server.url}/v1` }), "own", { family });
  ({ served } = target);
  const models = new Map([["m", modelOf([{ ...target, declaredContextTokens: declared }])]]);
  const one = {
    id: "own",
    family: family.name,
    unknownMembers: "pass",
    apiKey: undefined,
    baseUrl: undefined,
  } as const;
  const settings: UpstreamSettings[] = [{ ...one, promptCache: undefined }];
  return new ServerReports({
    settings: () => settings,
    table: () => ({ models, upstreams: new Map([["own", served]]) }),
    nowMs: () => nowMs,
    dateMs: () => nowMs,
    onFacts: () => {
      factsCount += 1;
      return Promise.resolve();
    },
    log: { warn: (about: object) => void warnings.push(about) } as never,
  });
}

test.each([
  {
    name: "llama.cpp",
    family: llamacpp,
    reports: llamaReports(4, 8_192, 3),
    want: { slots: 4, contextTokens: 8_192, running: 3, images: false, tools: true },
    others: 3,
  },
  { name: "vLLM", family: vllm, reports: vllmReports(8, 3, 32_768), want: { running: 8, waiting: 3 }, others: 11 },
  { name: "SGLang", family: vllm, reports: SGLANG_REPORTS, want: { running: 5, waiting: 2 }, others: 7 },
  { name: "Ollama", family: ollama, reports: OLLAMA_REPORTS, want: { loadedModels: ["qwen3:latest"] }, others: 0 },
])("$name is understood, under its own address", async ({ family, reports, want, others }) => {
  await (await readerOf(family, reports)).look();
  expect(served.health.server?.report).toMatchObject(want);
  expect(served.health.server?.othersAt(nowMs)).toBe(others);
  expect(served.health.server?.othersAt(nowMs + 60_000)).toBe(0);
});

test("contexts are those of single models; Ollama's names may leave out the tag", async () => {
  await (await readerOf(ollama, OLLAMA_REPORTS)).look();
  expect(served.health.server?.contextOf("qwen3")).toBe(4_096);
  expect(served.health.server?.contextOf("other")).toBeUndefined();
});

test("models are made again only where facts changed, and a context that is too long is logged once", async () => {
  const reader = await readerOf(llamacpp, llamaReports(1, 4_096), 32_768);
  await reader.look();
  server.reports = llamaReports(1, 4_096, 1);
  await reader.look();
  expect({ factsCount, running: served.health.server?.report.running }).toEqual({ factsCount: 1, running: 1 });
  expect(warnings).toEqual([
    { upstream: "own", problem: "The settings give m a context of 32768 tokens; the server has 4096." },
  ]);
  server.reports = llamaReports(1, 65_536);
  await reader.look();
  server.reports = llamaReports(1, 4_096);
  await reader.look();
  expect({ factsCount, warnings: warnings.length }).toEqual({ factsCount: 3, warnings: 2 });
});

test("an address that is not there is asked again after ten minutes", async () => {
  const { "/props": props = {} } = llamaReports(2, 4_096);
  const reader = await readerOf(llamacpp, { "/props": props });
  await reader.look();
  expect(served.health.server?.report.running).toBeUndefined();
  server.reports = llamaReports(2, 4_096, 2);
  await reader.look();
  expect(served.health.server?.report.running).toBeUndefined();
  nowMs += 600_001;
  await reader.look();
  expect(served.health.server?.report.running).toBe(2);
});

test.each([
  { name: "no report at all", reports: { "/props": "<html>", "/slots": { error: "disabled" } } },
  { name: "a report without end", reports: { "/props": "x".repeat(3_000_000) } },
])("$name changes nothing", async ({ reports }) => {
  await (await readerOf(llamacpp, reports)).look();
  expect({ server: served.health.server, factsCount, warnings }).toEqual({
    server: undefined,
    factsCount: 0,
    warnings: [],
  });
});
