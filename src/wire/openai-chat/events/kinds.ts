/** What the members of a choice, of its delta or message, and of a call in it are, in every dialect. */
import { kindTable } from "../../events/kinds.js";
import { CHOICE_ENVELOPE } from "../../openai/events/kinds.js";

export const CHOICE_KINDS = kindTable({
  holds: "delta message",
  // Of Together: the content once more.
  repeats: "text",
  envelope: CHOICE_ENVELOPE,
});

/** The spellings of a thought as one text: servers tell it by several at once. */
export const THOUGHT_NAMES = [
  "reasoning_content",
  "reasoning",
  "reasoning_text",
  "thinking",
  "thinking_content",
] as const;

export const DELTA_KINDS = kindTable({
  text: `content refusal tool_calls function_call reasoning_details ${THOUGHT_NAMES.join(" ")}`,
  // Of LiteLLM: the thought once more, with its proof.
  repeats: "thinking_blocks",
  // Its transcript is text.
  sound: "audio",
  picture: "images",
  // `executed_tools` is Groq's: what it ran, and what that gave back.
  other: "annotations executed_tools",
  envelope: "role name tool_call_id channel prefix",
});

/** Of a piece of a thought, as OpenRouter tells it. */
export const DETAIL_KINDS = kindTable({
  text: "text summary",
  other: "data",
  envelope: "type id index format signature",
});

export const CALL_KINDS = kindTable({
  text: "function custom",
  envelope: "index id type extra_content",
});
