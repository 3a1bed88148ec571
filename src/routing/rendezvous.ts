/**
 * Weighted rendezvous hashing: every node picks the same target for a session and asks no store. When a target comes or
 * goes, only the sessions that it wins or had move.
 */
import { createHash } from "node:crypto";
import type { Target } from "./model.js";

/** Two numbers of 32 bits. */
export type Seed = readonly [number, number];

const seeds = new WeakMap<Target, Seed>();

/** The first 64 bits of a digest. */
export function seedOf(digest: Buffer): Seed {
  return [digest.readUInt32LE(0), digest.readUInt32LE(4)];
}

/** The name of a target among those of its model, also after the settings were reloaded. */
export function targetName({ served, model }: Target): string {
  return `${served.id}/${model}`;
}

/** The target with the highest score for the session; each wins a share of sessions that follows its weight. */
export function rendezvous(targets: readonly Target[], session: Seed): Target | undefined {
  let best: Target | undefined;
  let bestScore = -1;
  for (const target of targets) {
    // -w / ln(u) is the largest with probability w / sum of all weights, if each u is uniform in (0, 1).
    const score = target.weight / -Math.log(uniform(session, seedOfTarget(target)));
    if (score <= bestScore) continue;
    best = target;
    bestScore = score;
  }
  return best;
}

function seedOfTarget(target: Target): Seed {
  let seed = seeds.get(target);
  if (seed === undefined) {
    seed = seedOf(createHash("sha256").update(targetName(target)).digest());
    seeds.set(target, seed);
  }
  return seed;
}

/** A number in (0, 1), made of both seeds. */
function uniform(session: Seed, target: Seed): number {
  const high = mixed(mixed(session[0] ^ target[0]) ^ target[1]);
  const low = mixed(mixed(session[1] ^ target[1]) ^ high);
  return ((high >>> 0) * 2 ** 20 + (low >>> 12) + 0.5) / 2 ** 52;
}

/** The finalizer of MurmurHash3: each bit of the number changes each bit of the result with probability 1/2. */
function mixed(number: number): number {
  let bits = number;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return bits ^ (bits >>> 16);
}
