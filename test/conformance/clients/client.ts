/** What every client of the matrix can: hold a conversation in its own format. One file for each official package. */
import type { Say, Settings, Told } from "../scenario.js";

/** How a conversation is held. */
export interface Opening {
  /** The gateway's bare address. */
  readonly url: string;
  readonly secret: string;
  readonly model: string;
  readonly isStream: boolean;
  readonly settings: Settings;
}

/** A conversation. What the client was told goes back as it came, as its package means it. */
export interface Conversation {
  say(say: Say): Promise<Told>;
}

export interface Client {
  /** As the matrix names it: the package, and what of it. */
  readonly name: string;
  /** The client format that it speaks. */
  readonly format: "chat" | "messages" | "gemini" | "responses";
  /** True where it shows what the model thinks. */
  readonly showsThinking: boolean;
  /** True where it sends thoughts back with what proves them. */
  readonly returnsThinking: boolean;
  /** True where it shows the words that explain why an answer was withheld. */
  readonly showsExplanation: boolean;
  /** How it tells the end of an answer in which the model itself refused, in words. */
  readonly endOfSpokenRefusal: "end" | "blocked";
  /** True where it tells that a stop string ended the answer. */
  readonly showsStop: boolean;
  /** Features that its package has no way to ask for. */
  readonly cannotAsk: readonly string[];
  open(opening: Opening): Conversation;
}

/** A word of a wire as what it means; a word that nobody expects fails. */
export function meaning<T>(table: Readonly<Record<string, T>>, word: unknown): T {
  const found = table[String(word)];
  if (found === undefined) throw new Error(`an end that nobody expects: ${String(word)}`);
  return found;
}
