/** Keeps one of the objects that Node makes for `process.nextTick`, so that V8 never forgets how they look. */
import { executionAsyncResource } from "node:async_hooks";

const kept = new Set<object>();

/**
 * Node makes such an object from a literal with computed names, three of them for a stream's event. Whenever V8
 * collects everything at a moment without ticks, which is soon after a start, it forgets the object's shape; and such a
 * literal that meets a second shape goes through V8's runtime for the rest of the process, at 0.3 µs in place of 0.06
 * (docs/decisions/0251-one-tick-is-kept.md). As long as one object is there, its shape is.
 */
export function keepTick(): void {
  process.nextTick(() => kept.add(executionAsyncResource()));
}
