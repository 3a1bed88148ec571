/** A price is changed at one node, and both nodes sell by it within moments; with Redis away too. */
import { setTimeout as pause } from "node:timers/promises";
import { Cluster } from "../cluster.js";
import { percentile } from "../load.js";
import type { Run, Scenario } from "../scenario.js";

const MODEL = "priced";
const ASK_EVERY_MS = 20;
/** What is promised where nodes tell each other nothing. */
const P99_MS_MAX = 2_000;
const LATE_MS_MAX = 20_000;

export const settings: Scenario = {
  name: "settings",
  claim: `a settings object that one node changes is in force on the other, p99 within ${P99_MS_MAX} ms`,
  small: 5,
  full: 100,
  run: changeOften,
};

async function changeOften(changes: number, run: Run): Promise<void> {
  const cluster = await Cluster.open({ nodes: 2 });
  try {
    const object = (input: number): object => ({
      name: MODEL,
      model: { targets: [{ upstream: "offline" }], price: { input: String(input), output: "0" } },
    });
    const upstream = { name: "offline", upstream: { family: "openai-compatible", base_url: "http://127.0.0.1:9/v1" } };
    await cluster.manage(0, "POST", "/settings/objects:apply", { changes: [{ set: upstream }, { set: object(0) }] });
    const inputAt = async (node: number): Promise<number> => {
      const { models = [] } = (await cluster.manage(node, "GET", "/models")) as {
        models?: readonly { readonly id: string; readonly price: { readonly input_picos: string } }[];
      };
      return Number(models.find(({ id }) => id === MODEL)?.price.input_picos ?? -1) / 1_000_000;
    };
    const tookMs: number[] = [];
    for (let change = 1; change <= changes; change += 1) {
      const by = change % 2;
      await cluster.manage(by, "POST", "/settings/objects:apply", { changes: [{ set: object(change) }] });
      const startMs = performance.now();
      // The node that made it sells by it before it answers.
      if ((await inputAt(by)) !== change) run.fail(`change ${change} is not in force where it was made`);
      while ((await inputAt(1 - by)) !== change) {
        if (performance.now() - startMs > LATE_MS_MAX) return run.fail(`change ${change} never came to the other node`);
        await pause(ASK_EVERY_MS);
      }
      tookMs.push(performance.now() - startMs);
    }
    const [median, p99] = [percentile(tookMs, 0.5), percentile(tookMs, 0.99)].map(Math.round);
    run.say(`${changes} changes: in force on the other node after ${median} ms (p50), ${p99} ms (p99)`);
    if ((p99 ?? 0) > P99_MS_MAX) run.fail(`p99 is ${p99} ms`);
  } finally {
    await cluster.close();
  }
}
