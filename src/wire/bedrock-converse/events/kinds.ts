/** What the events of a stream, and the members of a block's beginning, of its delta and of a whole block are. */
import { kindTable } from "../../events/kinds.js";

export const EVENT_KINDS = kindTable({
  holds: "contentBlockStart contentBlockDelta",
  envelope: "messageStart contentBlockStop messageStop metadata",
});

/** A result is what a tool of the upstream's gave back. */
export const START_KINDS = kindTable({ text: "toolUse", envelope: "toolResult image" });

export const DELTA_KINDS = kindTable({
  text: "text toolUse reasoningContent",
  picture: "image",
  other: "citation",
  envelope: "toolResult",
});

export const BLOCK_KINDS = kindTable({
  text: "text toolUse reasoningContent citationsContent",
  picture: "image",
  envelope: "toolResult",
});
