/** The package ai with its own packages for the wires, which validate what they read. */
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import {
  type FinishReason,
  generateText,
  jsonSchema,
  type LanguageModel,
  type LanguageModelUsage,
  type ModelMessage,
  Output,
  streamText,
  tool,
} from "ai";
import { type Call, type End, PNG, type Say, type Settings, type Told } from "../scenario.js";
import { type Client, type Conversation, meaning, type Opening } from "./client.js";

const ENDS: Readonly<Record<string, End>> = {
  stop: "end",
  length: "length",
  "tool-calls": "calls",
  "content-filter": "blocked",
};

/** The options of each package: thinking, and schemas in the wire's own way for whatever model. */
type Options = NonNullable<Parameters<typeof generateText>[0]["providerOptions"]>;

const CAN: Omit<Client, "name" | "open" | "format"> = {
  showsThinking: true,
  returnsThinking: true,
  showsExplanation: false,
  endOfSpokenRefusal: "end",
  showsStop: false,
  cannotAsk: [],
};

export const aiOpenAiChat: Client = {
  ...CAN,
  name: "ai with @ai-sdk/openai, chat",
  format: "chat",
  showsExplanation: true,
  endOfSpokenRefusal: "blocked",
  // It knows no member for thoughts, nor for what proves a call.
  showsThinking: false,
  returnsThinking: false,
  open: (opening) => {
    const model = createOpenAI({ baseURL: `${opening.url}/v1`, apiKey: opening.secret }).chat(opening.model);
    const thinks: Options = { openai: { reasoningEffort: "high", forceReasoning: true } };
    return new Talk(opening, model, opening.settings.thinks === true ? thinks : {});
  },
};

export const aiAnthropic: Client = {
  ...CAN,
  name: "ai with @ai-sdk/anthropic",
  format: "messages",
  endOfSpokenRefusal: "blocked",
  open: (opening) => {
    const model = createAnthropic({ baseURL: `${opening.url}/v1`, apiKey: opening.secret })(opening.model);
    const thinks = opening.settings.thinks === true ? { thinking: { type: "adaptive" }, effort: "high" } : {};
    return new Talk(opening, model, { anthropic: { ...thinks, structuredOutputMode: "outputFormat" } });
  },
};

export const aiOpenAiResponses: Client = {
  ...CAN,
  name: "ai with @ai-sdk/openai, responses",
  format: "responses",
  showsExplanation: true,
  endOfSpokenRefusal: "blocked",
  // It warns, and leaves the string out.
  cannotAsk: ["stop string"],
  open: (opening) => {
    const model = createOpenAI({ baseURL: `${opening.url}/v1`, apiKey: opening.secret }).responses(opening.model);
    const include = ["reasoning.encrypted_content"];
    const thinks = { reasoningEffort: "high", reasoningSummary: "auto", forceReasoning: true, include };
    return new Talk(opening, model, {
      openai: { store: false, ...(opening.settings.thinks === true ? thinks : {}) },
    });
  },
};

/** What both functions of the package tell in the end. */
interface Answered {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly (Call & { readonly id: string })[];
  readonly finish: FinishReason;
  readonly usage: LanguageModelUsage;
  readonly messages: readonly ModelMessage[];
}

class Talk implements Conversation {
  private readonly messages: ModelMessage[] = [];
  private calls: Answered["calls"] = [];

  constructor(
    private readonly opening: Opening,
    private readonly model: LanguageModel,
    private readonly packageOptions: Options,
  ) {}

  async say(say: Say): Promise<Told> {
    this.messages.push(this.messageOf(say));
    const options = {
      model: this.model,
      messages: [...this.messages],
      maxRetries: 0,
      providerOptions: this.packageOptions,
      ...settingsOf(this.opening.settings),
    };
    const answered = this.opening.isStream ? await streamed(options) : await whole(options);
    this.messages.push(...answered.messages);
    this.calls = answered.calls;
    const { inputTokenDetails: input, outputTokenDetails: output, outputTokens } = answered.usage;
    return {
      thinking: answered.reasoning,
      text: answered.text,
      refusal: "",
      calls: answered.calls.map(({ name, arguments: told }) => ({ name, arguments: told })),
      end: meaning(ENDS, answered.finish),
      tokens: {
        input: input.noCacheTokens ?? 0,
        cacheRead: input.cacheReadTokens ?? 0,
        outputAndReasoning: outputTokens ?? 0,
        reasoning: output.reasoningTokens,
      },
    };
  }

  private messageOf({ text = "", image, results }: Say): ModelMessage {
    if (results !== undefined)
      return {
        role: "tool",
        content: results.map((value, place) => ({
          type: "tool-result",
          toolCallId: this.calls[place]?.id ?? "",
          toolName: this.calls[place]?.name ?? "",
          output: { type: "text", value },
        })),
      };
    if (image !== true) return { role: "user", content: text };
    return {
      role: "user",
      content: [
        { type: "text", text },
        { type: "image", image: PNG, mediaType: "image/png" },
      ],
    };
  }
}

function settingsOf({ system, tools, schema, stop, outputTokensMax }: Settings): object {
  const made = (tools ?? []).map(({ name, description, parameters }) => {
    return [name, tool({ description, inputSchema: jsonSchema(parameters) })] as const;
  });
  return {
    ...(system === undefined ? {} : { system }),
    ...(tools === undefined ? {} : { tools: Object.fromEntries(made) }),
    ...(schema === undefined ? {} : { output: Output.object({ schema: jsonSchema(schema) }) }),
    ...(stop === undefined ? {} : { stopSequences: [stop] }),
    ...(outputTokensMax === undefined ? {} : { maxOutputTokens: outputTokensMax }),
  };
}

interface TypedCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
}

function callsOf(calls: readonly TypedCall[]): Answered["calls"] {
  return calls.map(({ toolCallId: id, toolName: name, input }) => ({
    id,
    name,
    arguments: input as Call["arguments"],
  }));
}

async function whole(options: Parameters<typeof generateText>[0]): Promise<Answered> {
  const result = await generateText(options);
  return {
    text: result.text,
    reasoning: result.reasoningText ?? "",
    calls: callsOf(result.toolCalls),
    finish: result.finishReason,
    usage: result.usage,
    messages: result.response.messages,
  };
}

async function streamed(options: Parameters<typeof streamText>[0]): Promise<Answered> {
  // Whatever goes wrong is thrown below, and needs no second telling.
  const result = streamText({ ...options, onError: () => {} });
  for await (const part of result.fullStream) if (part.type === "error") throw part.error;
  return {
    text: await result.text,
    reasoning: (await result.reasoningText) ?? "",
    calls: callsOf(await result.toolCalls),
    finish: await result.finishReason,
    usage: await result.usage,
    messages: (await result.response).messages,
  };
}
