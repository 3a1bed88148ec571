/** Coding agents as people install them, unmodified and without a person, over upstreams of every wire. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Agent, AGENTS } from "./agent.js";
import { CHAT_AGENTS } from "./chat-agents.js";
import { install } from "./installation.mjs";
import { runAgent } from "./run.js";
import { CASES, type Case, LAST_WORDS, REFUSAL, Scenario } from "./scenario.js";
import { type AgentWorld, MODELS, startAgentWorld, type UpstreamWire } from "./world.js";

/** All of them take minutes: a run of the tests takes two of each agent, and a command of its own the rest. */
const ALL = process.env["TOLLGATE_AGENTS"] === "all";
const USUAL: readonly { readonly wire: UpstreamWire; readonly kind: Case }[] = [
  { wire: "openai-compatible", kind: "tool round" },
  { wire: "anthropic", kind: "pretty-printed arguments" },
];
const WIRES = Object.keys(MODELS) as UpstreamWire[];
const EVERY = WIRES.flatMap((wire) => CASES.map((kind) => ({ wire, kind })));
/** Agents of chat completions differ in their programs alone: each has a tool over every wire, all else over one. */
const EVERY_OF_CHAT = EVERY.filter(({ wire, kind }) => kind === "tool round" || wire === "openai-compatible");
const RUN_MS_MAX = 120_000;

const installation = install("agents", new URL("./", import.meta.url));
const problem = "problem" in installation ? installation.problem : undefined;
const packages = "folder" in installation ? installation.folder : "";

let world: AgentWorld;
beforeAll(async () => {
  world = await startAgentWorld();
});
afterAll(() => world.close());

function runsOf(agent: Agent): typeof EVERY {
  if (!ALL) return [...USUAL];
  return CHAT_AGENTS.includes(agent) ? EVERY_OF_CHAT : EVERY;
}

describe.each(AGENTS)("$name", (agent) => {
  test.for(runsOf(agent))(
    "over an upstream of $wire: $kind",
    // What another program does by chance once, it does not do twice; the run says which it had to repeat.
    { timeout: RUN_MS_MAX, retry: 1 },
    async ({ wire, kind }, { skip }) => {
      skip(problem !== undefined, problem);
      const scenario = new Scenario(kind);
      world.follow(scenario);
      const place = { packages, url: world.gateway.url, secret: world.secret, model: MODELS[wire] };
      const { printed } = await runAgent(agent, place, "Do what is to be done.");
      const isLeft = kind === "cut" && agent.endsAtCut === true;
      expect(printed).toContain(isLeft ? "the connection was cut" : kind === "error" ? REFUSAL : LAST_WORDS);
      // A person would see it in red.
      if (kind !== "cut") expect(printed).not.toContain("Reconnecting");
      const refusals = world.refusals();
      expect(kind === "error" ? [] : refusals).toEqual([]);
    },
  );
});
