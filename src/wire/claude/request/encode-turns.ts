/** Turns that alternate, begin and end with the user, and answer every call at once. */

export type Speaker = "user" | "assistant" | "system";

export interface Turn {
  readonly speaker: Speaker;
  /** What is said, each a block of the wire's as JSON; the results of calls are not among them yet. */
  readonly blocks: string[];
  /** The ids of the calls that the assistant makes. */
  readonly calls: Set<string>;
  /** What the calls of the turn before returned, by the id of the call. */
  readonly results: Map<string, { readonly blocks: readonly string[]; readonly text: string }>;
}

/** How a wire writes what is added. */
export interface TurnBlocks {
  text(text: string): string;
  /** The result of a call that nobody answered. */
  noResult(callId: string): string;
}

const GO_ON = "Continue.";
const NO_CALLS: ReadonlySet<string> = new Set();

export function turnOf(speaker: Speaker, ...blocks: string[]): Turn {
  return { speaker, blocks, calls: new Set(), results: new Map() };
}

/** Begins and ends with the user, and answers each call in the turn behind it. */
export function completeTurns(turns: readonly Turn[], mayPrefill: boolean, write: TurnBlocks): Turn[] {
  const whole: Turn[] = [];
  let open = NO_CALLS;
  for (const turn of turns) {
    const answered = turn.speaker === "user" ? answer(turn, open, write) : turn;
    if (turn.speaker !== "user" && open.size > 0) whole.push(answer(turnOf("user"), open, write));
    open = turn.speaker === "assistant" ? turn.calls : NO_CALLS;
    if (answered.blocks.length > 0) whole.push(answered);
  }
  if (open.size > 0) whole.push(answer(turnOf("user"), open, write));
  const isPrefill = whole.at(-1)?.speaker === "assistant";
  if (whole[0]?.speaker !== "user") whole.unshift(turnOf("user", write.text(GO_ON)));
  if (isPrefill && !mayPrefill) whole.push(turnOf("user", write.text(GO_ON)));
  return whole;
}

/** Results first, in the order of their calls; one that never came is an error, one of no call is told as text. */
function answer(turn: Turn, open: ReadonlySet<string>, write: TurnBlocks): Turn {
  const blocks: string[] = [];
  for (const id of open) blocks.push(...(turn.results.get(id)?.blocks ?? [write.noResult(id)]));
  for (const [id, { text }] of turn.results)
    if (!open.has(id)) blocks.push(write.text(`The tool call ${id} returned: ${text}`));
  return { ...turn, blocks: [...blocks, ...turn.blocks] };
}
