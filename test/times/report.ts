/** What `npm run test:times` prints: files and tests by time, by what their time goes to, and the sums. */

/** What the process of a test file noted of it, in milliseconds. */
export interface ProcessTimes {
  readonly file: string;
  readonly ownCpuMs: number;
  /** Of the processes that it started; undefined where the system does not tell. */
  readonly childCpuMs: number | undefined;
  /** While at least one timer of the test's own code was awaited. */
  readonly sleptMs: number;
  /** How many processes it started, by program. */
  readonly started: Readonly<Record<string, number>>;
}

/** What Vitest tells of a test file, in milliseconds. */
export interface ModuleTimes {
  readonly file: string;
  readonly wallMs: number;
  readonly loadMs: number;
  readonly tests: readonly { readonly name: string; readonly ms: number }[];
}

const TESTS_SHOWN = 40;
const COLUMNS = ["wall", "own CPU", "child CPU", "loading", "slept", "other"] as const;
type Column = (typeof COLUMNS)[number];

interface Row {
  readonly name: string;
  readonly ms: Readonly<Record<Column, number>>;
  readonly started: Readonly<Record<string, number>>;
}

/** The lines of the report. `runMs`: how long the whole run took. */
export function reportOf(modules: readonly ModuleTimes[], noted: readonly ProcessTimes[], runMs: number): string[] {
  const byFile = new Map(noted.map((one) => [one.file, one]));
  const rows = modules.map((module) => rowOf(module, byFile.get(module.file)));
  const tests = modules.flatMap(({ file, tests: own }) =>
    own.map(({ name, ms }) => ({ name: `${file} > ${name}`, ms })),
  );
  const sums = Object.fromEntries(COLUMNS.map((column) => [column, sumOf(rows.map(({ ms }) => ms[column]))]));
  const isWithoutChildren = noted.some(({ childCpuMs }) => childCpuMs === undefined);
  return [
    `Files by time, in seconds (${rows.length} files, ${seconds(runMs)} s in all)`,
    `${COLUMNS.map((column) => column.padStart(10)).join("")}  processes started, file`,
    ...rows.toSorted((one, other) => other.ms.wall - one.ms.wall).map(lineOf),
    lineOf({ name: "all files", ms: sums as Row["ms"], started: countsOf(rows) }),
    "",
    `The ${Math.min(TESTS_SHOWN, tests.length)} slowest tests, in seconds`,
    ...tests
      .toSorted((one, other) => other.ms - one.ms)
      .slice(0, TESTS_SHOWN)
      .map(({ name, ms }) => `${seconds(ms).padStart(10)}  ${name}`),
    "",
    "own CPU: of the process that runs the file. child CPU: of the processes that it started, which run beside it.",
    "loading: importing modules and setting up; it is within own CPU and other. slept: timers of test code ran.",
    "other: wall less own CPU, child CPU and slept: mostly waiting for other processes, and for a processor.",
    ...(isWithoutChildren ? ["child CPU is left out: this system has no /proc."] : []),
  ];
}

function rowOf({ file, wallMs, loadMs }: ModuleTimes, noted: ProcessTimes | undefined): Row {
  const { ownCpuMs = 0, childCpuMs = 0, sleptMs = 0, started = {} } = noted ?? {};
  const other = Math.max(0, wallMs - ownCpuMs - childCpuMs - sleptMs);
  const ms = { wall: wallMs, "own CPU": ownCpuMs, "child CPU": childCpuMs, loading: loadMs, slept: sleptMs, other };
  return { name: file, ms, started };
}

function lineOf({ name, ms, started }: Row): string {
  const counts = Object.entries(started).map(([program, count]) => `${count} ${program}`);
  const cells = COLUMNS.map((column) => seconds(ms[column]).padStart(10)).join("");
  return `${cells}  ${counts.length === 0 ? "" : `${counts.join(", ")}, `}${name}`;
}

function countsOf(rows: readonly Row[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { started } of rows)
    for (const [program, count] of Object.entries(started)) counts[program] = (counts[program] ?? 0) + count;
  return counts;
}

const sumOf = (all: readonly number[]): number => all.reduce((sum, one) => sum + one, 0);
const seconds = (ms: number): string => (ms / 1_000).toFixed(1);
