/** What Mistral refuses beside what OpenAI's wire does, as far as a gateway could get it wrong. Built apart from it. */

type Json = Readonly<Record<string, unknown>>;

const MEMBERS: ReadonlySet<string> = new Set([
  "model",
  "messages",
  "temperature",
  "top_p",
  "max_tokens",
  "stream",
  "stop",
  "random_seed",
  "metadata",
  "response_format",
  "tools",
  "tool_choice",
  "presence_penalty",
  "frequency_penalty",
  "n",
  "prediction",
  "parallel_tool_calls",
  "prompt_mode",
  "reasoning_effort",
  "prompt_cache_key",
  "guardrails",
  "safe_prompt",
]);
/** The members of messages by their role. */
const MESSAGES: Readonly<Record<string, readonly string[]>> = {
  system: ["content"],
  user: ["content"],
  assistant: ["content", "tool_calls", "prefix"],
  tool: ["content", "tool_call_id", "name"],
};
const CALL_ID = /^[a-zA-Z0-9]{9}$/;
/** Which roles may follow each other. Mistral's own library, mistral-common, takes less or more by its version. */
const FOLLOWERS: Readonly<Record<string, readonly string[]>> = {
  system: ["system", "user", "assistant"],
  user: ["system", "user", "assistant"],
  assistant: ["assistant", "user", "tool"],
  tool: ["assistant", "tool"],
};
const CHOICES: ReadonlySet<string> = new Set(["auto", "none", "any", "required"]);

/** What is wrong with a body; undefined where nothing is. */
export function mistralProblem(body: Json): string | undefined {
  const extra = Object.keys(body).find((key) => !MEMBERS.has(key));
  if (extra !== undefined) return `${extra}: Extra inputs are not permitted`;
  const choice = body["tool_choice"];
  if (typeof choice === "string" && !CHOICES.has(choice)) return `tool_choice: no such choice: ${choice}`;
  const messages = objects(body["messages"]);
  for (const [place, message] of messages.entries()) {
    const problem = messageProblem(message, messages[place - 1]);
    if (problem !== undefined) return `messages.${place}: ${problem}`;
  }
  const last = messages.at(-1);
  const role = String(last?.["role"]);
  if (role === "system" && messages.length === 1) return undefined;
  if (role === "system" || (role === "assistant" && last?.["prefix"] !== true))
    return `Expected last role User or Tool (or Assistant with prefix True) for serving but got ${role}`;
  return undefined;
}

function messageProblem(message: Json, before: Json | undefined): string | undefined {
  const role = String(message["role"]);
  const known = MESSAGES[role];
  if (known === undefined) return `no such role: ${role}`;
  const extra = Object.keys(message).find((key) => key !== "role" && !known.includes(key));
  if (extra !== undefined) return `${role}.${extra}: Extra inputs are not permitted`;
  const previous = String(before?.["role"]);
  if (before !== undefined && FOLLOWERS[previous]?.includes(role) === false)
    return `Unexpected role '${role}' after role '${previous}'`;
  const ids = [...objects(message["tool_calls"]).map(({ id }) => id), message["tool_call_id"]];
  const illegal = ids.find((id) => id !== undefined && !CALL_ID.test(String(id)));
  if (illegal !== undefined)
    return `Tool call id was ${String(illegal)} but must be a-z, A-Z, 0-9, with a length of 9.`;
  return undefined;
}

function objects(value: unknown): readonly Json[] {
  return Array.isArray(value) ? (value as Json[]) : [];
}
