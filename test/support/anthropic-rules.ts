/** What Anthropic's API refuses, as far as a gateway could get it wrong. Built apart from the program's own code. */

type Json = Readonly<Record<string, unknown>>;

/** A proof that the fake takes for its own begins so. */
export const PROOF = "U0lH";

const TOP = new Set([
  "model",
  "max_tokens",
  "messages",
  "system",
  "stream",
  "stop_sequences",
  "tools",
  "tool_choice",
  "thinking",
  "output_config",
  "metadata",
  "service_tier",
  "temperature",
  "top_p",
  "top_k",
  "context_management",
  "container",
]);
/** Members of requests that name their beta. */
const BETAS: Readonly<Record<string, string>> = { output_format: "structured-outputs-2025-11-13" };
const ONLY_FOR_ANSWERS = ["max_tokens", "stream", "temperature", "metadata", "stop_sequences"];

/** The message of the refusal; undefined where nothing is wrong. */
export function anthropicProblem(url: string, headers: Json, body: Json): string | undefined {
  const isCount = url.endsWith("/count_tokens");
  if (typeof headers["anthropic-version"] !== "string") return "anthropic-version: header is required";
  const betas = String(headers["anthropic-beta"]).split(",");
  const isKnown = (key: string): boolean => TOP.has(key) || key.startsWith("x-") || betas.includes(BETAS[key] ?? "-");
  const unknown = Object.keys(body).find((key) => !isKnown(key));
  if (unknown !== undefined) return `${unknown}: Extra inputs are not permitted`;
  if (!isCount && typeof body["max_tokens"] !== "number") return "max_tokens: Field required";
  const extra = isCount ? ONLY_FOR_ANSWERS.find((key) => key in body) : undefined;
  if (extra !== undefined) return `${extra}: Extra inputs are not permitted`;
  return modelProblem(String(body["model"]), body) ?? messagesProblem(messagesOf(body), body);
}

interface Message {
  readonly role: unknown;
  readonly blocks: readonly Json[];
}

function messagesOf(body: Json): readonly Message[] {
  const messages = Array.isArray(body["messages"]) ? (body["messages"] as Json[]) : [];
  return messages.map(({ role, content }) => ({
    role,
    blocks: typeof content === "string" ? [{ type: "text", text: content }] : (content as Json[]),
  }));
}

function modelProblem(model: string, body: Json): string | undefined {
  const thinking = Object(body["thinking"]) as Json;
  const choice = Object(body["tool_choice"]) as Json;
  const isForced = choice["type"] === "any" || choice["type"] === "tool";
  const isThinking = thinking["type"] === "enabled" || thinking["type"] === "adaptive";
  const isNewest = model === "claude-opus-5-5";
  const isOlder = model === "claude-sonnet-4-5";
  if (!isOlder && ["temperature", "top_p", "top_k"].some((key) => key in body))
    return "temperature: Extra inputs are not permitted";
  if (isOlder && "temperature" in body && "top_p" in body) return "temperature and top_p cannot both be specified";
  if (isOlder && "temperature" in body && isThinking) return "temperature may only be 1 when thinking is enabled";
  if (isOlder && thinking["type"] === "adaptive") return "adaptive thinking is not supported on this model";
  if (isNewest && thinking["type"] === "enabled") return "thinking.type: enabled is not supported on this model";
  if (isNewest && thinking["type"] === "disabled") return "thinking cannot be disabled on this model";
  if ((isNewest || isThinking) && isForced) return "tool_choice forces tool use";
  const budget = thinking["budget_tokens"];
  if (typeof budget === "number" && (budget < 1024 || budget >= Number(body["max_tokens"])))
    return "thinking.budget_tokens: out of range";
  if (body["tool_choice"] !== undefined && !Array.isArray(body["tools"])) return "tool_choice: tools are required";
  return undefined;
}

function messagesProblem(messages: readonly Message[], body: Json): string | undefined {
  if (messages[0]?.role !== "user") return "messages: first message must use the user role";
  if (messages.at(-1)?.role === "assistant") return "This model does not support assistant message prefill";
  for (const [place, { role, blocks }] of messages.entries()) {
    if (blocks.length === 0) return `messages.${place}: all messages must have non-empty content`;
    const problem = blocks.map((block) => blockProblem(block, role)).find((found) => found !== undefined);
    if (problem !== undefined) return `messages.${place}.content: ${problem}`;
    const next = messages[place + 1]?.blocks ?? [];
    const results = next.filter(({ type }) => type === "tool_result").map((block) => block["tool_use_id"]);
    const calls = blocks.filter(({ type }) => type === "tool_use").map(({ id }) => id);
    if (calls.join() !== results.join())
      return `messages.${place}: \`tool_use\` ids were found without \`tool_result\` blocks: ${calls.join()}`;
    const firstOther = next.findIndex(({ type }) => type !== "tool_result");
    if (firstOther !== -1 && next.slice(firstOther).some(({ type }) => type === "tool_result"))
      return `messages.${place + 1}: tool_result must come first`;
  }
  const ids = messages.flatMap(({ blocks }) => blocks.flatMap(({ type, id }) => (type === "tool_use" ? [id] : [])));
  if (new Set(ids).size < ids.length) return "messages: `tool_use` ids must be unique";
  const hasCalls = messages.some(({ blocks }) => blocks.some(({ type }) => type === "tool_use"));
  if (hasCalls && !Array.isArray(body["tools"])) return "tools: required where messages use tools";
  return undefined;
}

function blockProblem(block: Json, role: unknown): string | undefined {
  switch (block["type"]) {
    case "text":
      return String(block["text"]).trim() === "" ? "text content blocks must be non-empty" : undefined;
    case "thinking":
      return String(block["signature"]).startsWith(PROOF) ? undefined : "Invalid `signature` in `thinking` block";
    case "tool_use": {
      if (!/^[a-zA-Z0-9_-]+$/.test(String(block["id"]))) return "tool id pattern";
      const { input } = block;
      return typeof input === "object" && input !== null && !Array.isArray(input) ? undefined : "input: not an object";
    }
    case "image":
    case "document":
    case "tool_result":
      return role === "user" ? undefined : "only the user may send it";
    case "redacted_thinking":
      return role === "assistant" ? undefined : "only the assistant thinks";
    default:
      return `unknown block ${String(block["type"])}`;
  }
}
