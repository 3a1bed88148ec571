/**
 * Challenges for authenticators. A challenge says for whom and what it was made, sealed: any node can take its answer,
 * and nothing is stored before an answer comes.
 */
import { z } from "zod";
import type { Seal } from "../second-factors.js";
import { digestOf } from "../tokens.js";
import type { AnsweredChallenge } from "../../store/passkey-scripts.js";

/** How long a person may take. */
export const CHALLENGE_MS = 5 * 60_000;
const OWNER = "challenge of a passkey";
/** No challenge of ours is longer. */
const TEXT_MAX = 1_000;

const purpose = z.object({
  /** What an answer is good for. */
  does: z.enum(["create", "sign in", "prove"]),
  userId: z.string(),
  /** Where it must be answered; empty for a sign-in, which has no session yet. */
  sessionId: z.string(),
});
const sealed = purpose.extend({ untilMs: z.number() });

/** For what a challenge is made. Its answer counts for nothing else. */
export type Purpose = Readonly<z.output<typeof purpose>>;

/** The nonce of the seal makes each another one, and its key keeps others from guessing it. */
export function makeChallenge(seal: Seal, asked: Purpose, nowMs: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(seal.seal(OWNER, JSON.stringify({ ...asked, untilMs: nowMs + CHALLENGE_MS })));
}

/** Throws an Error where the challenge is none of ours, is for something else, or too old. `text` is base64url. */
export function takeChallenge(seal: Seal, text: string, wanted: Purpose, nowMs: number): AnsweredChallenge {
  const bytes = Buffer.from(text.slice(0, TEXT_MAX), "base64url");
  const opened = seal.open(OWNER, bytes);
  if (opened === undefined) throw new Error("the challenge is not one of this gateway");
  const { does, userId, sessionId, untilMs } = sealed.parse(JSON.parse(opened));
  if (does !== wanted.does || userId !== wanted.userId || sessionId !== wanted.sessionId)
    throw new Error("the challenge was made for something else");
  if (untilMs <= nowMs) throw new Error("the challenge is too old");
  // Kept for longer than it is good for: the clock of another node may be a little behind.
  return { digest: digestOf(bytes.toString("base64url")), keptUntilMs: untilMs + CHALLENGE_MS, nowMs };
}
