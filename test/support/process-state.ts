/** What a test can change of the process that runs it, and so of the tests that come after it there. */
import { vi } from "vitest";
import { protectedSecrets } from "../../src/base/redaction.js";

/** What goes on by itself, as Node names it. Sockets may stay: clients keep them for a while. */
const OPEN_KINDS = new Set(["ProcessWrap", "TCPServerWrap", "PipeServerWrap", "UDPWrap", "MessagePort", "FSEventWrap"]);

/** By a name of each, such as `env TMPDIR` or `JSON.parse`. */
export type ProcessState = ReadonlyMap<string, unknown>;

/** What is as it was as soon as it is put back. */
export function stateOfProcess(): ProcessState {
  const state = new Map<string, unknown>([
    ["a false clock", vi.isFakeTimers()],
    ["directory", process.cwd()],
    ["secrets that no text may hold", protectedSecrets().length],
  ]);
  for (const name of process.eventNames()) state.set(`listeners of ${String(name)}`, process.listenerCount(name));
  for (const [name, value] of Object.entries(process.env)) state.set(`env ${name}`, value);
  for (const [name, holder] of holders())
    for (const key of Reflect.ownKeys(holder)) {
      const given: unknown = Object.getOwnPropertyDescriptor(holder, key)?.value;
      if (typeof given === "function") state.set(`${name}.${String(key)}`, given);
    }
  return state;
}

/** The names of what is another. A function that nobody had before is what Node gives when it is first asked for it. */
export function changedSince(before: ProcessState): string[] {
  const now = stateOfProcess();
  const names = new Set([...before.keys(), ...now.keys()]);
  return [...names].filter((name) => {
    if (typeof now.get(name) === "function" && !before.has(name)) return false;
    return now.get(name) !== before.get(name);
  });
}

/** How many are open of what goes on by itself; what was told to close is gone a moment later. */
export function openInProcess(): ReadonlyMap<string, number> {
  const open = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo())
    if (OPEN_KINDS.has(kind)) open.set(kind, (open.get(kind) ?? 0) + 1);
  return open;
}

/** The globals, and what their instances share. */
function holders(): [string, object][] {
  // Node gives its Buffer by a getter.
  const found: [string, object][] = [
    ["globalThis", globalThis],
    ["Buffer", Buffer],
    ["Buffer.prototype", Buffer.prototype],
  ];
  for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(globalThis))) {
    if (value === globalThis || !isHolder(value)) continue;
    found.push([name, value]);
    if ("prototype" in value && isHolder(value.prototype)) found.push([`${name}.prototype`, value.prototype]);
  }
  return found;
}

function isHolder(value: unknown): value is object {
  return value !== null && (typeof value === "object" || typeof value === "function");
}
