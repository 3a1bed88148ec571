/** What the members of a choice are. */
import { kindTable } from "../../events/kinds.js";
import { CHOICE_ENVELOPE } from "../../openai/events/kinds.js";

export const CHOICE_KINDS = kindTable({ text: "text", envelope: CHOICE_ENVELOPE });
