/** What nodes tell each other of upstreams: a wait that one asked for, and what an operator wants of one. */
import { z } from "zod";
import type { CoolDown, UpstreamOrder } from "./coordination.js";

/** What another node says holds others back no longer than what an upstream's own answer may. */
const DURATION_MS_MAX = 60_000;
/** What an upstream may name, which others are only told: 30 days. */
const NAMED_MS_MAX = 30 * 24 * 3_600_000;

const SCHEMA = z.object({
  upstream: z.string().max(256),
  model: z.string().max(256),
  durationMs: z.number().min(0).max(DURATION_MS_MAX),
  accountId: z.string().max(256).optional(),
  namedMs: z.number().min(0).max(NAMED_MS_MAX).optional(),
});

const ORDER = z.object({
  upstream: z.string().max(256),
  order: z.enum(["drain", "undrain", "reset", "suspect", "answered"]),
  model: z.string().max(256).optional(),
});

/** Undefined where it is none. */
export function parseOrder(text: string): UpstreamOrder | undefined {
  try {
    return ORDER.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Undefined where it is none: whoever may publish in Redis may send anything. */
export function parseCoolDown(text: string): CoolDown | undefined {
  try {
    const { accountId, namedMs, ...rest } = SCHEMA.parse(JSON.parse(text));
    return { ...rest, accountId, ...(namedMs === undefined ? {} : { namedMs }) };
  } catch {
    return undefined;
  }
}
