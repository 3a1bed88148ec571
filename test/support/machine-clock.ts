/** The time of day of a gateway's machine, which a test sets. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import type { GatewayProcess } from "./gateway-process.js";
import { readMetrics } from "./metrics-reading.js";

const PRELOAD = new URL("./clock-jump.mjs", import.meta.url).href;

export class MachineClock {
  readonly #path = join(mkdtempSync(join(tmpdir(), "tollgate-clock-")), "jump");

  /** So far off from the gateway's first moment on. */
  constructor(offMs = 0) {
    writeFileSync(this.#path, String(offMs));
  }

  /** What a gateway is started with that goes by it. */
  get env(): Readonly<Record<string, string>> {
    return { NODE_OPTIONS: `--import ${PRELOAD}`, CLOCK_JUMP: this.#path };
  }

  /** Resolves once the gateway tells that it has seen the new time. */
  async set(gateway: GatewayProcess, offMs: number): Promise<void> {
    writeFileSync(this.#path, String(offMs));
    process.kill(gateway.pid, "SIGUSR2");
    await expect.poll(() => skewSecondsOf(gateway)).toBeCloseTo(offMs / 1_000, -1);
  }
}

/** How far its machine's clock is ahead, as a gateway tells. */
export async function skewSecondsOf(gateway: GatewayProcess): Promise<number> {
  return (await readMetrics(gateway)).value("tollgate_clock_skew_seconds") ?? Number.NaN;
}
