/** What a request asks for that no other wire can say: refused where its answer would be another, else named. */
import { type Prompt, ToolChoice_Mode } from "../../../api/index.js";
import { GatewayError } from "../../../base/errors.js";
import { unsupported } from "../../error/refusals.js";
import { objectOf, parsed, textOf } from "../../json/value.js";
import { leftOutName } from "../../request/hosted-tools.js";
import { asksNothing, saysOff } from "../../request/says-nothing.js";
import type { StrangeItem } from "./scan-messages.js";

/** Fields whose loss nobody misses: what they ask for is so in any case, or is the client's own accounting. */
const HARMLESS: ReadonlySet<string> = new Set([
  "include",
  "prompt",
  "client_metadata",
  "prompt_cache_retention",
  "prompt_cache_options",
]);

const SEALED =
  "only the upstream that sealed this summary can read it; go on with a model of the same vendor, or without the item";

/** The refusal of an item that says what no other wire can, by its place. */
export function strangeItem({ place, type }: StrangeItem, model: string): GatewayError {
  if (type === "compaction") return unsupported(`input[${place}]`, SEALED, { model });
  const problem = `it has no item of the type '${type.slice(0, 64)}'; leave it out, or say it as a message`;
  return new GatewayError("ERROR_REASON_PARAMETER_UNSUPPORTED", { param: `input[${place}]`, problem, model });
}

/** Throws PARAMETER_UNSUPPORTED. `dropped` takes the names of what no other wire will see. */
export function checkForeign(prompt: Prompt, model: string, dropped: string[]): void {
  const refuse = (param: string, problem: string): never => {
    throw unsupported(param, problem, { model });
  };
  const extra = objectOf(parsed(prompt.extra?.json ?? "{}")) ?? {};
  // No field of the wire's own, so OpenAI refuses it too.
  if (!asksNothing("stop", extra["stop"] ?? null)) refuse("stop", "responses know no stop strings");
  const choice = objectOf(extra["tool_choice"]);
  if (choice !== undefined)
    refuse("tool_choice", `it has no tool of the type '${textOf(choice["type"]).slice(0, 64)}'`);
  const callable = prompt.tools.filter(({ kind }) => kind?.$case !== "opaque").length;
  if (prompt.toolChoice?.mode === ToolChoice_Mode.MODE_REQUIRED && callable === 0)
    refuse("tool_choice", "it has none of the tools that one must be called of");
  // Tools that OpenAI runs itself.
  for (const { kind } of prompt.tools) if (kind?.$case === "opaque") dropped.push(leftOutName(kind.value.json));
  for (const [key, value] of Object.entries(extra))
    if (!HARMLESS.has(key) && !asksNothing(key, value) && !saysOff(value)) dropped.push(key.slice(0, 64));
}
