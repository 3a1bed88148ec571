/**
 * What the stand-in reads of a chat completion request. What it does not know, it ignores as a lenient upstream
 * would.
 */
import { z } from "zod";
import type { BuiltInModel } from "../family.js";
import { parseBody } from "./refusal.js";

export const SIM_MODEL: BuiltInModel = {
  id: "sim-1",
  contextTokens: 128_000,
  outputTokensMax: 16_000,
  kind: "chat",
};

const partSchema = z.looseObject({ type: z.string(), text: z.string().optional(), refusal: z.string().optional() });

const messageSchema = z.looseObject({
  role: z.string(),
  content: z.union([z.string(), z.array(partSchema)]).nullish(),
  tool_calls: z.array(z.unknown()).nullish(),
});

const functionSchema = z.looseObject({ name: z.string(), parameters: z.unknown().optional() });
const toolSchema = z.looseObject({
  type: z.string(),
  function: functionSchema.optional(),
  custom: z.looseObject({ name: z.string() }).optional(),
});

const namedToolSchema = z.looseObject({
  type: z.string(),
  function: z.looseObject({ name: z.string() }).optional(),
  custom: z.looseObject({ name: z.string() }).optional(),
});

const toolChoiceSchema = z.union([
  z.enum(["none", "auto", "required"]),
  z.looseObject({
    type: z.literal("allowed_tools"),
    allowed_tools: z.looseObject({ mode: z.enum(["auto", "required"]), tools: z.array(namedToolSchema) }),
  }),
  namedToolSchema,
]);

const count = z.number().int().positive().nullish();

const bodySchema = z.looseObject({
  model: z.string(),
  messages: z.array(messageSchema).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  n: z.number().int().min(1).max(128).nullish(),
  max_tokens: count,
  max_completion_tokens: count,
  stop: z.union([z.string(), z.array(z.string()).max(4)]).nullish(),
  tools: z.array(toolSchema).max(128).nullish(),
  tool_choice: toolChoiceSchema.nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  response_format: z
    .looseObject({ type: z.string(), json_schema: z.looseObject({ schema: z.unknown().optional() }).optional() })
    .nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.number().int().min(0).max(20).nullish(),
});

export type SimBody = z.infer<typeof bodySchema>;
export type SimMessage = SimBody["messages"][number];

/** A tool that may be called; `schema` is undefined where it takes free text. */
export interface SimTool {
  readonly name: string;
  readonly kind: "function" | "custom";
  readonly schema: unknown;
}

/** Reads a body. Throws a SimRefusal that names what is wrong. */
export function readBody(body: Buffer | undefined): SimBody {
  return parseBody(body, bodySchema, SIM_MODEL.id);
}

/** The text of a message, without pictures and other parts. */
export function textOf(message: SimMessage | undefined): string {
  const content = message?.content ?? "";
  if (typeof content === "string") return content;
  return content.map((part) => part.text ?? part.refusal ?? "").join("");
}

/** The tools that may be called now, and whether one must be. */
export function callableTools(body: SimBody): { readonly tools: readonly SimTool[]; readonly must: boolean } {
  const tools = (body.tools ?? []).flatMap((tool): SimTool[] => {
    if (tool.function !== undefined)
      return [{ name: tool.function.name, kind: "function", schema: tool.function.parameters }];
    return tool.custom === undefined ? [] : [{ name: tool.custom.name, kind: "custom", schema: undefined }];
  });
  const choice = body.tool_choice ?? "auto";
  if (choice === "none") return { tools: [], must: false };
  if (typeof choice === "string") return { tools, must: choice === "required" };
  if ("allowed_tools" in choice && isAllowed(choice.allowed_tools)) {
    const names = new Set(choice.allowed_tools.tools.map(nameOf));
    return { tools: tools.filter((tool) => names.has(tool.name)), must: choice.allowed_tools.mode === "required" };
  }
  const named = nameOf(choice);
  return { tools: tools.filter((tool) => tool.name === named), must: true };
}

type Allowed = { readonly mode: string; readonly tools: readonly z.infer<typeof namedToolSchema>[] };

function isAllowed(value: unknown): value is Allowed {
  return typeof value === "object" && value !== null && "mode" in value && "tools" in value;
}

function nameOf(tool: Readonly<Record<string, unknown>>): string | undefined {
  for (const part of [tool["function"], tool["custom"]]) {
    if (typeof part === "object" && part !== null && "name" in part && typeof part.name === "string") return part.name;
  }
  return undefined;
}
