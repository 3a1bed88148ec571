/** What a tenant asks to be given the worst answers: each in its upstream's own wire, in another, and gathered. */
import { WORST_ANSWERS } from "./worst-answers.mjs";

/**
 * @typedef {object} WorstQuestion
 * @property {string} name
 * @property {string} model Of this question alone, as its upstream is.
 * @property {number} answer The place of its answer.
 * @property {string} wire The upstream's.
 * @property {string} client The wire that the client speaks.
 * @property {boolean} stream What the client asks for.
 * @property {"embedding" | "completion" | undefined} kind
 * @property {string | undefined} facts
 */

/** @type {readonly WorstQuestion[]} */
export const WORST_QUESTIONS = WORST_ANSWERS.flatMap((answer, place) => {
  const questions = clientsOf(answer.wire).map((client) => question(answer, place, client, false));
  const isGathered = answer.stream && answer.contentType !== "application/json" && answer.wire !== "openai-completions";
  // A model that only streams, asked for a whole answer.
  if (isGathered) questions.push(question(answer, place, "openai-chat", true));
  return questions;
});

/**
 * True of a name that has one of the texts; without any, of all.
 * @param {string} name
 * @param {readonly string[]} texts
 */
export function isAsked(name, texts) {
  return texts.length === 0 || texts.some((text) => name.includes(text));
}

/**
 * @param {import("./worst-answers.mjs").WorstAnswer} answer
 * @param {number} place
 * @param {string} client
 * @param {boolean} gathers
 * @returns {WorstQuestion}
 */
function question({ name, wire, stream }, place, client, gathers) {
  const kind = {
    "openai-embeddings": /** @type {const} */ ("embedding"),
    "openai-completions": /** @type {const} */ ("completion"),
  }[wire];
  return {
    name: `${name}, ${gathers ? "gathered for" : "to"} ${client}`,
    model: `worst-${place}-${client}${gathers ? "-gathered" : ""}`,
    answer: place,
    wire,
    client,
    stream: stream && !gathers,
    kind,
    facts: gathers ? "{ stream_only: true }" : undefined,
  };
}

/** @param {string} wire */
function clientsOf(wire) {
  if (wire === "bedrock-converse") return ["openai-chat", "anthropic"];
  if (wire === "openai-embeddings" || wire === "openai-completions") return [wire];
  return [wire, wire === "openai-chat" ? "anthropic" : "openai-chat"];
}
