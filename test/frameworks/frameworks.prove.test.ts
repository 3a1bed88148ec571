/** SDKs and frameworks as people install them, each in the way of its own pages, over upstreams of every wire. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NODE_CLIENTS, outcomeOf, PYTHON_CLIENTS } from "./clients.js";
import { installed, PROGRAM_MS_MAX, runProgram } from "./run.js";
import { type FrameworkWorld, MODELS, startFrameworkWorld, type UpstreamWire } from "./world.js";

/** All of them take minutes: a run of the tests takes one wire, and a command of its own the rest. */
const IS_WHOLE = process.env["TOLLGATE_AGENTS"] === "all";
const WIRES = Object.keys(MODELS) as UpstreamWire[];

let world: FrameworkWorld;
beforeAll(async () => {
  world = await startFrameworkWorld();
});
afterAll(() => world.close());

describe.each([...NODE_CLIENTS, ...PYTHON_CLIENTS])("$program with $name", (client) => {
  const { problem } = installed(client);

  test.for(IS_WHOLE ? WIRES : WIRES.slice(0, 1))(
    "over an upstream of %s",
    { timeout: PROGRAM_MS_MAX, retry: 1 },
    async (wire, { skip }) => {
      skip(problem !== undefined, problem);
      const { code, printed, told } = await runProgram(client, {
        url: world.gateway.url,
        secret: world.secret,
        model: MODELS[wire],
      });
      expect({ code, told: code === 0 ? "" : told }).toEqual({ code: 0, told: "" });
      expect(JSON.parse(printed.trim().split("\n").at(-1) ?? "")).toEqual(outcomeOf(client));
    },
  );
});
