/** The features of the matrix: each is one conversation that every client has with every upstream. */
import type { Call, Feature, Reply, Settings, Tokens, Tool } from "./scenario.js";

/** Each count is another, so that none passes for another. */
const TOKENS: Tokens = { input: 21, cacheRead: 5, output: 9, reasoning: 0 };
const THOUGHT: Tokens = { ...TOKENS, reasoning: 4 };

const closed = (properties: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});
const WEATHER: Tool = {
  name: "weather",
  description: "Says how it is outside.",
  parameters: closed({ city: { type: "string" } }),
};
const CLOCK: Tool = { name: "clock", description: "Says how late it is.", parameters: closed({}) };
const TOOLS: Settings = { tools: [WEATHER, CLOCK] };

const weather = (city: string): Call => ({ name: "weather", arguments: { city } });
const clock: Call = { name: "clock", arguments: {} };

const says = (text: string): Reply => ({ text, end: "end", tokens: TOKENS });
const calls = (...called: Call[]): Reply => ({ calls: called, end: "calls", tokens: TOKENS });

export const features: readonly Feature[] = [
  {
    name: "text",
    settings: { system: "Be brief.", outputTokensMax: 77 },
    turns: [
      { say: { text: "Hello." }, reply: says('Grüß Gott! 🙂 "Quoted",\nand more.') },
      { say: { text: "Go on." }, reply: says("That was all.") },
    ],
  },
  {
    name: "one tool",
    settings: TOOLS,
    turns: [{ say: { text: "How is Oslo?" }, reply: calls(weather('Åre \\ "north" 🏔')) }],
  },
  {
    name: "parallel tools",
    settings: TOOLS,
    turns: [
      {
        say: { text: "How are Oslo and Rome, and how late is it?" },
        reply: { ...calls(weather("Oslo"), weather("Rome"), clock), text: "I look." },
      },
    ],
  },
  {
    name: "tool result",
    settings: TOOLS,
    turns: [
      { say: { text: "How are Oslo and Rome?" }, reply: calls(weather("Oslo"), weather("Rome")) },
      { say: { results: ["rain", "sun"] }, reply: says("Rain in Oslo, sun in Rome.") },
    ],
  },
  {
    name: "tool loop of 3 turns",
    settings: { ...TOOLS, system: "Look, then speak." },
    turns: [
      { say: { text: "How is Oslo?" }, reply: { ...calls(weather("Oslo")), text: "I look." } },
      { say: { results: ["rain"] }, reply: calls(weather("Oslo"), clock) },
      { say: { results: ["still rain", "noon"] }, reply: calls(clock) },
      { say: { results: ["one"] }, reply: says("Rain, and it is one.") },
      { say: { text: "And Rome?" }, reply: says("I do not know.") },
    ],
  },
  {
    name: "image",
    settings: {},
    turns: [{ say: { text: "What is this?", image: true }, reply: says("A red dot.") }],
  },
  {
    name: "JSON schema",
    settings: { schema: closed({ city: { type: "string" }, degrees: { type: "integer" } }) },
    turns: [{ say: { text: "How warm is Oslo?" }, reply: says('{"city":"Oslo","degrees":-3}') }],
  },
  {
    name: "thinking with tool loop",
    settings: { ...TOOLS, thinks: true, outputTokensMax: 4000 },
    turns: [
      {
        say: { text: "How is Oslo?" },
        reply: { ...calls(weather("Oslo")), thinking: "First I look\nat Oslo.", tokens: THOUGHT },
      },
      {
        say: { results: ["rain"] },
        reply: { ...calls(clock, weather("Rome")), thinking: "Then at Rome.", tokens: THOUGHT },
      },
      {
        say: { results: ["noon", "sun"] },
        reply: { ...says("Rain in Oslo, sun in Rome."), thinking: "So.", tokens: THOUGHT },
      },
      { say: { text: "Thanks." }, reply: { ...says("Gladly."), thinking: "Polite.", tokens: THOUGHT } },
    ],
  },
  {
    name: "refusal",
    settings: {},
    turns: [{ say: { text: "Do harm." }, reply: { refusal: "I will not.", end: "blocked", tokens: TOKENS } }],
  },
  {
    name: "length stop",
    settings: { outputTokensMax: 16 },
    turns: [{ say: { text: "Tell a tale." }, reply: { ...says("Once upon"), end: "length" } }],
  },
  {
    name: "stop string",
    settings: { stop: "END" },
    turns: [{ say: { text: "Count." }, reply: { ...says("One, two, "), end: "stop", stopString: "END" } }],
  },
  {
    name: "empty answer",
    settings: {},
    turns: [{ say: { text: "Say nothing." }, reply: { text: "", end: "end", tokens: { ...TOKENS, output: 1 } } }],
  },
];
