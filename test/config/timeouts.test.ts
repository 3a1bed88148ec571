/** Timeouts in settings: which are said, and which are refused. */
import { expect, test } from "vitest";
import { parseSettings } from "../support/parse-settings.js";

const file = (upstream: string, model = "", target = ""): string =>
  `upstreams: { one: { family: openai-compatible, base_url: "http://h/v1"${upstream} } }\n` +
  `models: { m: { targets: [{ upstream: one${target} }], price: free${model} } }\n`;
const read = (upstream: string, model?: string, target?: string) => parseSettings(file(upstream, model, target), {});

test("each level says its own times, and a profile stands for all of them", () => {
  const { upstreams, models } = read(
    ", timeouts: { connect: 2s, total: 20m }",
    ", timeouts: { profile: interactive, idle: 1500ms }",
    ", timeouts: { first_output: 1h }",
  );
  expect(upstreams[0]?.timeouts).toEqual({ connectMs: 2_000, totalMs: 1_200_000 });
  expect(models[0]?.timeouts).toEqual({ firstOutputMs: 10_000, idleMs: 1_500, totalMs: 120_000 });
  expect(models[0]?.targets[0]?.timeouts).toEqual({ firstOutputMs: 3_600_000 });
  expect(read("").upstreams[0]?.timeouts).toBeUndefined();
});

test.each(["0s", "999ms", "61m", "2h", "30", "1.5s", "-1s", "30 s", "s", ""])("%j is no timeout", (value) => {
  expect(() => read("", `, timeouts: { total: "${value}" }`)).toThrow(
    "must be a time from 1s to 1h, such as 30s or 10m",
  );
});

test("a model says nothing of connecting, since its upstream's connections are shared", () => {
  expect(() => read("", ", timeouts: { connect: 2s }")).toThrow("timeouts.connect");
  expect(() => read("", ", timeouts: { profile: quick }")).toThrow("default, interactive");
});
