/** What both ends of a cell must understand, worked out from its script alone. */
import type { Client } from "./clients/client.js";
import { type Feature, line, PNG, type Reply, type Say, type Seen, type Told } from "./scenario.js";
import type { Target } from "./targets.js";

/** What the client must be told of a reply. */
export function wantedTold(reply: Reply, client: Client, target: Target): Told {
  const { thinking = "", text = "", calls = [], tokens } = reply;
  const isShown =
    target.refuses === "spoken" ||
    target.refuses === "plain" ||
    (target.refuses === "explained" && client.showsExplanation);
  return {
    thinking: target.tellsThinking && client.showsThinking ? thinking : "",
    // Words that were refused stand where the client looks for them: its own text, or a place for refusals.
    text: text + (isShown ? (reply.refusal ?? "") : ""),
    refusal: "",
    calls,
    end: wantedEnd(reply, client, target),
    tokens: {
      input: tokens.input,
      cacheRead: tokens.cacheRead,
      outputAndReasoning: tokens.output + tokens.reasoning,
      reasoning: target.countsThinking === false ? 0 : tokens.reasoning,
    },
  };
}

function wantedEnd({ end }: Reply, client: Client, target: Target): Told["end"] {
  if (end === "stop") return client.showsStop && target.tellsStop ? "stop" : "end";
  if (end === "blocked" && target.refuses === "plain") return "end";
  if (end === "blocked" && target.refuses === "spoken") return client.endOfSpokenRefusal;
  return end;
}

/** What was told, in the form of `wantedTold`: the words of a refusal as text, wherever they stood. */
export function comparableTold({ text, refusal, tokens, ...rest }: Told): Told {
  const { reasoning, ...counts } = tokens;
  return { ...rest, text: text + refusal, refusal: "", tokens: { ...counts, reasoning: reasoning ?? undefined } };
}

/** What the upstream must understand of the request of a turn. */
export function wantedSeen(
  feature: Feature,
  turn: number,
  says: readonly Say[],
  client: Client,
  target: Target,
): Partial<Seen> {
  const { settings, turns } = feature;
  const lacksThoughts = target.needsThoughtsOfCalls === true && !client.returnsThinking;
  const said: string[] = settings.system === undefined ? [] : [line.system(settings.system)];
  for (let place = 0; place <= turn; place++) {
    said.push(...saidBy(says[place] ?? {}, turns[place - 1]?.reply));
    const reply = turns[place]?.reply;
    if (place < turn && reply !== undefined) said.push(...replied(reply, client, target));
  }
  return {
    said,
    tools: settings.tools ?? [],
    schema: settings.schema,
    stop: settings.stop === undefined ? [] : [settings.stop],
    thinks: settings.thinks === true && !(lacksThoughts && says[turn]?.results !== undefined),
    ...(settings.outputTokensMax === undefined ? {} : { outputTokensMax: settings.outputTokensMax }),
  };
}

function saidBy({ text, image, results }: Say, before: Reply | undefined): string[] {
  if (results !== undefined) return results.map((result, place) => line.result(before?.calls?.[place], result));
  return [line.user(text ?? ""), ...(image === true ? [line.image("image/png", PNG)] : [])];
}

function replied({ thinking, text = "", calls = [] }: Reply, client: Client, target: Target): string[] {
  const mayReturn = target.takesThinking && client.returnsThinking;
  return [
    ...(thinking === undefined || !mayReturn ? [] : [line.thought(thinking)]),
    ...(text === "" ? [] : [line.model(text)]),
    ...calls.map((call, place) => {
      const isLost = target.signsCalls && !client.returnsThinking && place === 0;
      return isLost ? line.unsigned(call) : line.call(call);
    }),
  ];
}

/** What was seen, as far as it is wanted: thoughts that nobody must have back may come or not. */
export function comparableSeen(seen: Seen, wanted: Partial<Seen>, target: Target): Partial<Seen> {
  const said = target.takesThinking ? seen.said : seen.said.filter((told) => !told.startsWith(line.thought("")));
  const entries = Object.entries({ ...seen, said }).filter(([key]) => key in wanted);
  return Object.fromEntries(entries);
}

interface Refusal {
  /** The format that it holds for; all where undefined. */
  readonly format?: Client["format"];
  readonly feature: string;
  /** The families that it holds for; all where undefined. */
  readonly families?: readonly string[];
  readonly param: string;
}

/** What cannot be mapped, and is refused by its parameter. */
const REFUSALS: readonly Refusal[] = [
  // OpenAI's responses know no stop strings, and without them the answer would be another.
  { format: "responses", feature: "stop string", param: "stop" },
  { feature: "stop string", families: ["openai-responses"], param: "stop" },
];

/** The parameter that a refusal must name; undefined where none is documented. */
export function documentedRefusal(client: Client, target: Target, feature: Feature): string | undefined {
  return REFUSALS.find(
    ({ format, feature: name, families }) =>
      (format ?? client.format) === client.format &&
      name === feature.name &&
      (families?.includes(target.family) ?? true),
  )?.param;
}
