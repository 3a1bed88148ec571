/** Google's official client, through its helper of chats, which keeps the conversation itself. */
import { type Chat, type GenerateContentResponse, GoogleGenAI, type Part } from "@google/genai";
import { type End, PNG, type Say, type Settings, type Told } from "../scenario.js";
import { type Client, type Conversation, meaning, type Opening } from "./client.js";

const ENDS: Readonly<Record<string, End>> = { STOP: "end", MAX_TOKENS: "length", SAFETY: "blocked" };

export const googleGenai: Client = {
  name: "@google/genai",
  format: "gemini",
  showsThinking: true,
  returnsThinking: true,
  showsExplanation: true,
  endOfSpokenRefusal: "end",
  cannotAsk: [],
  showsStop: false,
  open: (opening) => new Talk(opening),
};

class Talk implements Conversation {
  private readonly chat: Chat;
  private calls: readonly { readonly id: string | undefined; readonly name: string }[] = [];

  constructor(private readonly opening: Opening) {
    const { url, secret, model, settings } = opening;
    const client = new GoogleGenAI({ apiKey: secret, httpOptions: { baseUrl: url } });
    this.chat = client.chats.create({ model, config: configOf(settings) });
  }

  async say(say: Say): Promise<Told> {
    const message = this.partsOf(say);
    const chunks: GenerateContentResponse[] = [];
    if (this.opening.isStream)
      for await (const chunk of await this.chat.sendMessageStream({ message })) chunks.push(chunk);
    else chunks.push(await this.chat.sendMessage({ message }));
    const parts = chunks.flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? []);
    const calls = parts.flatMap(({ functionCall: call }) => (call === undefined ? [] : [call]));
    this.calls = calls.map(({ id, name = "" }) => ({ id, name }));
    const reasons = chunks.flatMap((chunk) => chunk.candidates?.[0]?.finishReason ?? []);
    if (reasons.length !== 1) throw new Error(`not one end: ${reasons.join()}`);
    const usage = chunks.findLast((chunk) => chunk.usageMetadata !== undefined)?.usageMetadata;
    const cacheRead = usage?.cachedContentTokenCount ?? 0;
    const reasoning = usage?.thoughtsTokenCount ?? 0;
    const end = meaning(ENDS, reasons[0]);
    return {
      thinking: textIn(parts, true),
      text: textIn(parts, false),
      refusal: "",
      calls: calls.map(({ name = "", args = {} }) => ({ name, arguments: args })),
      end: end === "end" && calls.length > 0 ? "calls" : end,
      tokens: {
        input: (usage?.promptTokenCount ?? 0) - cacheRead,
        cacheRead,
        outputAndReasoning: (usage?.candidatesTokenCount ?? 0) + reasoning,
        reasoning,
      },
    };
  }

  private partsOf({ text, image, results }: Say): Part[] {
    if (results !== undefined)
      return results.map((output, place) => {
        const { id, name = "" } = this.calls[place] ?? {};
        return { functionResponse: { ...(id === undefined ? {} : { id }), name, response: { output } } };
      });
    const said: Part[] = [{ text: text ?? "" }];
    return image === true ? [...said, { inlineData: { mimeType: "image/png", data: PNG } }] : said;
  }
}

function textIn(parts: readonly Part[], isThought: boolean): string {
  return parts.map((part) => ((part.thought === true) === isThought ? (part.text ?? "") : "")).join("");
}

function configOf({ system, tools, schema, stop, outputTokensMax, thinks }: Settings): object {
  return {
    ...(system === undefined ? {} : { systemInstruction: system }),
    ...(tools === undefined
      ? {}
      : {
          tools: [
            {
              functionDeclarations: tools.map(({ name, description, parameters }) => ({
                name,
                description,
                parametersJsonSchema: parameters,
              })),
            },
          ],
        }),
    ...(schema === undefined ? {} : { responseMimeType: "application/json", responseJsonSchema: schema }),
    ...(stop === undefined ? {} : { stopSequences: [stop] }),
    ...(outputTokensMax === undefined ? {} : { maxOutputTokens: outputTokensMax }),
    ...(thinks === true ? { thinkingConfig: { thinkingLevel: "HIGH", includeThoughts: true } } : {}),
  };
}
