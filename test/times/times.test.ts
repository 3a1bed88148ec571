/** What the report of times is made of: what overlaps counts once, and programs have names. */
import { expect, test } from "vitest";
import { addSleep, programOf } from "./measured.js";
import { reportOf } from "./report.js";

test.each([
  {
    name: "apart",
    times: [
      [0, 1],
      [2, 4],
    ],
    want: [
      [0, 1],
      [2, 4],
    ],
  },
  {
    name: "that touch",
    times: [
      [0, 1],
      [1, 4],
    ],
    want: [[0, 4]],
  },
  {
    name: "that overlap",
    times: [
      [0, 3],
      [2, 4],
    ],
    want: [[0, 4]],
  },
  {
    name: "within a longer one",
    times: [
      [1, 2],
      [3, 4],
      [0, 5],
    ],
    want: [[0, 5]],
  },
  {
    name: "before which another ended",
    times: [
      [0, 1],
      [3, 4],
      [2, 5],
    ],
    want: [
      [0, 1],
      [2, 5],
    ],
  },
] as { name: string; times: [number, number][]; want: [number, number][] }[])("sleeps $name", ({ times, want }) => {
  const sleeps: [number, number][] = [];
  for (const [fromMs, toMs] of times) addSleep(sleeps, fromMs, toMs);
  expect(sleeps).toEqual(want);
});

test.each([
  { file: process.execPath, args: ["dist/program/main.js", "serve"], want: "gateway" },
  { file: process.execPath, args: ["dist/program/main.js", "account"], want: "command" },
  { file: "/usr/lib/postgresql/15/bin/initdb", args: [], want: "postgres" },
  { file: "redis-server", args: ["--port", "0"], want: "redis" },
  { file: "nginx", args: [], want: "other" },
])("$file $args is counted as $want", ({ file, args, want }) => {
  expect(programOf(file, args)).toBe(want);
});

test("files and tests come by time, with what a file waited for beside timers and processors", () => {
  const modules = [
    { file: "a.test.ts", wallMs: 1_000, loadMs: 100, tests: [{ name: "quick", ms: 1 }] },
    { file: "b.test.ts", wallMs: 9_000, loadMs: 200, tests: [{ name: "slow", ms: 5_000 }] },
  ];
  const noted = [
    { file: "a.test.ts", ownCpuMs: 1_500, childCpuMs: 0, sleptMs: 0, started: {} },
    { file: "b.test.ts", ownCpuMs: 2_000, childCpuMs: 3_000, sleptMs: 1_000, started: { gateway: 2, redis: 1 } },
  ];
  expect(reportOf(modules, noted, 9_500).slice(0, 9)).toEqual([
    "Files by time, in seconds (2 files, 9.5 s in all)",
    "      wall   own CPU child CPU   loading     slept     other  processes started, file",
    "       9.0       2.0       3.0       0.2       1.0       3.0  2 gateway, 1 redis, b.test.ts",
    "       1.0       1.5       0.0       0.1       0.0       0.0  a.test.ts",
    "      10.0       3.5       3.0       0.3       1.0       3.0  2 gateway, 1 redis, all files",
    "",
    "The 2 slowest tests, in seconds",
    "       5.0  b.test.ts > slow",
    "       0.0  a.test.ts > quick",
  ]);
});

test("where the system does not tell what children take, the report says so", () => {
  const noted = [{ file: "a.test.ts", ownCpuMs: 1, childCpuMs: undefined, sleptMs: 0, started: {} }];
  expect(reportOf([], noted, 0).at(-1)).toBe("child CPU is left out: this system has no /proc.");
});
