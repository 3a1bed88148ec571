/** What Converse refuses: the rules of its reference that a request can break by its form. */

type Json = Readonly<Record<string, unknown>>;

const BLOCKS: ReadonlySet<string> = new Set([
  "text",
  "image",
  "document",
  "toolUse",
  "toolResult",
  "reasoningContent",
  "cachePoint",
]);
const ID = /^[a-zA-Z0-9_-]{1,64}$/;
const FILENAME = /^(?!.*\s\s)[A-Za-z0-9\s()[\]-]{1,200}$/;
const MEMBERS: ReadonlySet<string> = new Set([
  "messages",
  "system",
  "inferenceConfig",
  "toolConfig",
  "outputConfig",
  "additionalModelRequestFields",
  "additionalModelResponseFieldPaths",
  "serviceTier",
]);

/** What is wrong with a body; undefined where nothing is. */
export function converseProblem(body: Json): string | undefined {
  const strange = Object.keys(body).find((key) => !MEMBERS.has(key));
  if (strange !== undefined) return `the member ${strange} is not known`;
  const messages = objects(body["messages"]);
  if (messages.length === 0) return "messages: at least one is needed";
  let before = "assistant";
  let calls: string[] = [];
  for (const [place, message] of messages.entries()) {
    const problem = messageProblem(message, before, calls);
    if (problem !== undefined) return `messages.${place}: ${problem}`;
    before = String(message["role"]);
    calls = objects(message["content"]).flatMap(({ toolUse }) => (toolUse === undefined ? [] : [idIn(toolUse)]));
  }
  if (calls.length > 0) return "the last calls have no results";
  return toolProblem(body, messages) ?? repeatedProblem(messages) ?? systemProblem(body["system"]);
}

function messageProblem(message: Json, before: string, calls: readonly string[]): string | undefined {
  const content = objects(message["content"]);
  if (message["role"] !== "user" && message["role"] !== "assistant") return "no such role";
  if (message["role"] === before) return "roles must alternate, and begin with the user";
  if (content.length === 0) return "the content is empty";
  for (const block of content) {
    const problem = blockProblem(block);
    if (problem !== undefined) return problem;
  }
  const results = content.flatMap(({ toolResult }) => (toolResult === undefined ? [] : [idIn(toolResult)]));
  if (JSON.stringify(results) !== JSON.stringify(calls)) return "each call must have its result in the next turn";
  const hasText = content.some(({ text }) => text !== undefined);
  return content.some(({ document }) => document !== undefined) && !hasText ? "a file needs a text" : undefined;
}

function blockProblem(block: Json): string | undefined {
  const [kind = "", ...more] = Object.keys(block);
  if (more.length > 0 || !BLOCKS.has(kind)) return `no such block: ${JSON.stringify(block).slice(0, 100)}`;
  const value = block[kind];
  if (kind === "text") return String(value).trim() === "" ? "the text is blank" : undefined;
  const said = object(value);
  if (kind === "toolUse" || kind === "toolResult") return ID.test(idIn(value)) ? undefined : "the id is illegal";
  if (kind === "document") return FILENAME.test(String(said["name"])) ? undefined : "the name is illegal";
  if (kind === "image" && !/^(png|jpeg|gif|webp)$/.test(String(said["format"]))) return "no such format";
  const proof = object(said["reasoningText"])["signature"];
  if (kind === "reasoningContent" && said["redactedContent"] === undefined && typeof proof !== "string")
    return "a thought needs its signature";
  return undefined;
}

/** What may stand once in a request, in whatever turn. Names of documents differ by more than their case. */
function repeatedProblem(messages: readonly Json[]): string | undefined {
  const blocks = messages.flatMap(({ content }) => objects(content));
  const inner = blocks.flatMap(({ toolResult }) => objects(object(toolResult)["content"]));
  const names = [...blocks, ...inner].flatMap(({ document }) =>
    document === undefined ? [] : [String(object(document)["name"]).toLowerCase()],
  );
  if (new Set(names).size < names.length) return "Messages can't contain duplicate document names";
  const ids = blocks.flatMap(({ toolUse }) => (toolUse === undefined ? [] : [idIn(toolUse)]));
  return new Set(ids).size < ids.length ? "toolUse ids must be unique" : undefined;
}

function toolProblem(body: Json, messages: readonly Json[]): string | undefined {
  const config = object(body["toolConfig"]);
  const hasToolBlocks = messages.some(({ content }) =>
    objects(content).some(({ toolUse, toolResult }) => toolUse !== undefined || toolResult !== undefined),
  );
  if (body["toolConfig"] === undefined) return hasToolBlocks ? "toolConfig must be defined" : undefined;
  const tools = objects(config["tools"]);
  if (tools.length === 0) return "toolConfig.tools must not be empty";
  const wrong = tools.some(({ toolSpec, cachePoint }) => {
    const schema = object(object(object(toolSpec)["inputSchema"])["json"]);
    return cachePoint === undefined && (!ID.test(String(object(toolSpec)["name"])) || schema["type"] !== "object");
  });
  if (wrong) return "a tool is illegal";
  const choice = Object.keys(object(config["toolChoice"]));
  return choice.every((key) => ["auto", "any", "tool"].includes(key)) ? undefined : "no such toolChoice";
}

function systemProblem(system: unknown): string | undefined {
  return objects(system).some((block) => blockProblem(block) !== undefined) ? "system is illegal" : undefined;
}

function idIn(value: unknown): string {
  return String(object(value)["toolUseId"]);
}

function object(value: unknown): Json {
  return typeof value === "object" && value !== null ? (value as Json) : {};
}

function objects(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.map(object) : [];
}
