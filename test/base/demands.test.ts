/** Demands only ever tighten, and a label that is not known satisfies none. */
import { expect, test } from "vitest";
import { type Demands, demandsOf, demandsProblem, type Labels, satisfies, tightened } from "../../src/base/demands.js";
import { randomOf } from "../support/random.js";

const NOTHING = { region: [], retention: "", trains: "" };

test.each([
  { labels: { region: "eu" }, demands: { regions: ["eu", "us"] }, want: true },
  { labels: { region: "asia" }, demands: { regions: ["eu", "us"] }, want: false },
  { labels: {}, demands: { regions: ["eu"] }, want: false },
  { labels: { region: "eu" }, demands: { regions: [] }, want: false },
  { labels: { retentionDays: 0 }, demands: { retentionDaysMax: 0 }, want: true },
  { labels: { retentionDays: 30 }, demands: { retentionDaysMax: 30 }, want: true },
  { labels: { retentionDays: 31 }, demands: { retentionDaysMax: 30 }, want: false },
  { labels: {}, demands: { retentionDaysMax: 30 }, want: false },
  { labels: { trains: false }, demands: { refusesTraining: true }, want: true },
  { labels: { trains: true }, demands: { refusesTraining: true }, want: false },
  { labels: {}, demands: { refusesTraining: true }, want: false },
  { labels: undefined, demands: {}, want: true },
] as const)("labels $labels satisfy $demands: $want", ({ labels, demands, want }) => {
  expect(satisfies(labels, demands)).toBe(want);
});

test("what satisfies both together is what satisfies each", () => {
  const random = randomOf(475);
  const oneOf = <Value>(values: readonly Value[]) => values[Math.floor(random() * values.length)];
  const regions = [undefined, ["eu"], ["us", "eu"], ["us"], []];
  const someDemands = (): Demands | undefined =>
    oneOf([true, false, true])
      ? {
          regions: oneOf(regions),
          retentionDaysMax: oneOf([undefined, 0, 7, 30]),
          refusesTraining: oneOf([undefined, true]),
        }
      : undefined;
  for (let round = 0; round < 10_000; round += 1) {
    const labels: Labels = {
      region: oneOf([undefined, "eu", "us"]),
      retentionDays: oneOf([undefined, 0, 7, 30]),
      trains: oneOf([undefined, true, false]),
    };
    const [one, other] = [someDemands(), someDemands()];
    const isEach = [one, other].every((demands) => demands === undefined || satisfies(labels, demands));
    const both = tightened(one, other);
    expect(both === undefined || satisfies(labels, both), JSON.stringify({ labels, one, other })).toBe(isEach);
  }
});

test.each([
  { written: { region: ["EU"] }, field: "region" },
  { written: { region: Array.from({ length: 33 }, () => "eu") }, field: "region" },
  { written: { retention: "0" }, field: "retention" },
  { written: { retention: "forever" }, field: "retention" },
  { written: { trains: "yes" }, field: "trains" },
])("$written cannot be demanded", ({ written, field }) => {
  expect(demandsProblem({ ...NOTHING, ...written })?.[0]).toBe(field);
});

test("nothing is demanded by what is empty", () => {
  expect(demandsProblem(NOTHING)).toBeUndefined();
  expect(demandsOf(NOTHING)).toBeUndefined();
  expect(demandsOf({ ...NOTHING, retention: "none" })).toEqual({ retentionDaysMax: 0 });
});
