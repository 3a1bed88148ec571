/** A text to go on with, as a chat: what the user says. */
import { type Message, type Prompt, Role } from "../../../api/index.js";
import { wrongValue } from "../../json/node.js";
import { textPart, messageOf } from "../../request/part.js";
import { WIRE_NAME } from "../facts.js";
import type { Completion, CompletionPrompt } from "./scan.js";
import { promptOf } from "../../request/prompt.js";

/** Throws PARAMETER_INVALID for tokens: what text they are only their own model knows. */
export function decodePrompt(completion: Completion): Prompt {
  const { logprobs } = completion;
  const asked = {
    messages: completion.prompts.map(saidBy),
    temperature: completion.temperature,
    topP: completion.topP,
    presencePenalty: completion.presencePenalty,
    frequencyPenalty: completion.frequencyPenalty,
    seed: completion.seed,
    stop: [...completion.stop],
    candidateCount: completion.wanted === 1 ? undefined : completion.wanted,
    logprobs: logprobs === undefined ? undefined : true,
    topLogprobs: logprobs,
    logitBias: { ...completion.logitBias },
    user: completion.user,
  };
  return promptOf(asked, WIRE_NAME, undefined);
}

/** What of the request no chat can answer; undefined where there is nothing. */
export function foreignProblem(completion: Completion): { param: string; problem: string } | undefined {
  const [first, ...others] = completion.prompts;
  if (typeof first !== "string")
    return { param: "prompt", problem: "the model accepts text prompts only, not token ids" };
  if (others.length > 0) return { param: "prompt", problem: "only one prompt per request is supported" };
  // Models for chats answer a text; what stands around the answer they do not see.
  if (completion.suffix) return { param: "suffix", problem: "it does not fill in the middle of a text" };
  if (completion.echo) return { param: "echo", problem: "it does not repeat the prompt" };
  if (completion.candidates > completion.wanted)
    return { param: "best_of", problem: "it does not choose among its answers" };
  return undefined;
}

function saidBy(prompt: CompletionPrompt): Message {
  if (typeof prompt !== "string") throw wrongValue("prompt", "it must be a text");
  return messageOf(Role.ROLE_USER, [textPart(prompt)]);
}
