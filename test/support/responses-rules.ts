/** What OpenAI's responses refuse, as far as a gateway could get it wrong. Built apart from the program's own code. */

type Json = Readonly<Record<string, unknown>>;

const TOP: ReadonlySet<string> = new Set([
  "model",
  "input",
  "instructions",
  "max_output_tokens",
  "temperature",
  "top_p",
  "top_logprobs",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "max_tool_calls",
  "reasoning",
  "text",
  "include",
  "store",
  "stream",
  "stream_options",
  "previous_response_id",
  "metadata",
  "truncation",
  "service_tier",
  "prompt_cache_key",
  "safety_identifier",
  "user",
]);
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const OUTPUT_TOKENS_MIN = 16;
const PARTS: Readonly<Record<string, ReadonlySet<string>>> = {
  assistant: new Set(["output_text", "refusal"]),
  user: new Set(["input_text", "input_image", "input_file"]),
};

export interface Problem {
  readonly message: string;
  readonly param: string;
}

/** What is wrong, with the parameter that it names; undefined where nothing is. */
export function responsesProblem(body: Json): Problem | undefined {
  const problem = (param: string, message: string): Problem => ({ param, message });
  const unknown = Object.keys(body).find((key) => !TOP.has(key));
  if (unknown !== undefined) return problem(unknown, `Unknown parameter: '${unknown}'.`);
  const most = body["max_output_tokens"];
  if (typeof most === "number" && most < OUTPUT_TOKENS_MIN)
    return problem("max_output_tokens", "integer below minimum");
  const reasons = /^(o\d|gpt-5)/.test(String(body["model"]));
  if (!reasons && body["reasoning"] !== undefined)
    return problem("reasoning.effort", "Unsupported parameter: 'reasoning.effort' is not supported with this model.");
  for (const [place, tool] of objects(body["tools"]).entries())
    if (tool["type"] !== "function" || !NAME.test(String(tool["name"])))
      return problem(`tools[${place}].name`, "Invalid tool.");
  const { format } = object(body["text"]);
  const { type, name, schema, strict } = object(format);
  if (type === "json_schema" && !NAME.test(String(name))) return problem("text.format.name", "Missing name.");
  if (type === "json_schema" && strict === true && object(schema)["additionalProperties"] !== false)
    return problem("text.format.schema", "'additionalProperties' is required to be false.");
  return typeof body["input"] === "string" ? undefined : inputProblem(objects(body["input"]));
}

function inputProblem(input: readonly Json[]): Problem | undefined {
  const open = new Set<string>();
  const told = new Set<string>();
  for (const [place, item] of input.entries()) {
    const param = `input[${place}]`;
    const callId = String(item["call_id"]);
    const next = input[place + 1];
    switch (item["type"] ?? "message") {
      case "message": {
        const wrong = partsProblem(item);
        if (wrong !== undefined) return { param, message: wrong };
        break;
      }
      case "function_call":
        if (!NAME.test(String(item["name"])) || typeof item["arguments"] !== "string")
          return { param, message: "Invalid function call." };
        if (told.has(callId)) return { param, message: `Duplicate call_id ${callId}.` };
        told.add(callId);
        open.add(callId);
        break;
      case "function_call_output":
        if (!open.delete(callId)) return { param, message: `No tool call found for function call output ${callId}.` };
        break;
      case "reasoning":
        if (next === undefined || next["role"] === "user" || next["type"] === "function_call_output")
          return { param, message: `${reasoningName(item)} was provided without its required following item.` };
        if (!String(item["id"]).startsWith("rs_cell") || item["encrypted_content"] !== `sealed ${String(item["id"])}`)
          return { param, message: "The encrypted content could not be verified." };
        break;
      default:
        return { param: `${param}.type`, message: `Invalid value: '${String(item["type"])}'.` };
    }
  }
  return open.size === 0 ? undefined : { param: "input", message: `No tool output found for ${[...open].join()}.` };
}

function partsProblem({ role, content }: Json): string | undefined {
  if (!["user", "assistant", "system", "developer"].includes(String(role))) return "Invalid role.";
  if (typeof content === "string") return undefined;
  const legal = PARTS[String(role)] ?? new Set(["input_text"]);
  const wrong = objects(content).find(({ type }) => !legal.has(String(type)));
  if (wrong !== undefined) return `Invalid value: '${String(wrong["type"])}' in this role.`;
  return objects(content).length === 0 ? "Invalid content: empty array." : undefined;
}

function objects(value: unknown): readonly Json[] {
  return Array.isArray(value) ? (value as Json[]) : [];
}

function object(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

function reasoningName(item: Record<string, unknown>): string {
  return `Item '${String(item["id"])}' of type 'reasoning'`;
}
