/**
 * Checks every answer and event that a gateway wrote against what the official SDKs declare, and where
 * `TOLLGATE_OPENAPI` names OpenAI's own document against that as well.
 */
import { existsSync, readFileSync } from "node:fs";
import { ALLOWANCE, BY_DESIGN } from "./beyond-sdks.js";
import { OpenapiFitting } from "./openapi-fitting.js";
import { sdkShapes } from "./sdk-shapes.js";
import { Fitting } from "./shape.js";

/** One answer as `answer-tap.mjs` keeps it. */
interface KeptAnswer {
  readonly method: string;
  readonly url: string;
  /** Whose client asked, where its headers or its query tell: `anthropic`, `google` or nothing. */
  readonly client: string;
  /** The bytes from the status line on, a character each. */
  readonly answer: string;
}

interface Subject {
  readonly asked: RegExp;
  readonly whole: string;
  readonly event?: string;
  readonly error: "openaiError" | "anthropicError" | "googleError";
}

const SUBJECTS: readonly Subject[] = [
  { asked: /^POST \/v1\/chat\/completions$/, whole: "chat", event: "chatEvent", error: "openaiError" },
  { asked: /^POST \/v1\/completions$/, whole: "completion", event: "completion", error: "openaiError" },
  { asked: /^POST \/v1\/embeddings$/, whole: "embeddings", error: "openaiError" },
  { asked: /^POST \/v1\/responses$/, whole: "response", event: "responseEvent", error: "openaiError" },
  { asked: /^POST \/v1\/responses\/input_tokens$/, whole: "inputTokens", error: "openaiError" },
  { asked: /^POST \/v1\/responses\/compact$/, whole: "compaction", error: "openaiError" },
  { asked: /^POST \/v1\/messages$/, whole: "message", event: "messageEvent", error: "anthropicError" },
  {
    asked: /^POST \/v1\/messages\?beta=true$/,
    whole: "betaMessage",
    event: "betaMessageEvent",
    error: "anthropicError",
  },
  { asked: /^POST \/v1\/messages\/count_tokens(\?beta=true)?$/, whole: "messageTokens", error: "anthropicError" },
  { asked: /^GET \/v1\/models(\?.*)? anthropic$/, whole: "anthropicModels", error: "anthropicError" },
  { asked: /^GET \/v1\/models\/[^?]+(\?.*)? anthropic$/, whole: "anthropicModel", error: "anthropicError" },
  { asked: /^GET \/v1\/models(\?.*)? google$/, whole: "googleModels", error: "googleError" },
  { asked: /^GET \/v1\/models\/[^?]+(\?.*)? google$/, whole: "googleModel", error: "googleError" },
  // With `client_version` it is Codex's catalogue, which no SDK declares: test/formats reads it as Codex does.
  { asked: /^GET \/v1\/models(\?(?!client_version=).*)?$/, whole: "openaiModels", error: "openaiError" },
  { asked: /^GET \/v1\/models\/[^?]+$/, whole: "openaiModel", error: "openaiError" },
  { asked: /^POST \/v1(?:beta|alpha)?\/models\/[^?]+:generateContent/, whole: "content", error: "googleError" },
  {
    asked: /^POST \/v1(?:beta|alpha)?\/models\/[^?]+:streamGenerateContent/,
    whole: "content",
    event: "content",
    error: "googleError",
  },
  { asked: /^POST \/v1(?:beta|alpha)?\/models\/[^?]+:countTokens/, whole: "contentTokens", error: "googleError" },
  { asked: /^GET \/v1(?:beta|alpha)\/models(\?.*)?$/, whole: "googleModels", error: "googleError" },
  { asked: /^GET \/v1(?:beta|alpha)\/models\/[^?]+(\?.*)?$/, whole: "googleModel", error: "googleError" },
];

let fitting: Fitting | undefined;
let openapi: OpenapiFitting | undefined;

/** What of a value does not fit what its vendor declares of it. */
function misfitOf(subject: string, value: unknown): string | undefined {
  fitting ??= new Fitting(sdkShapes(), ALLOWANCE);
  const file = process.env["TOLLGATE_OPENAPI"] ?? "";
  if (file !== "") openapi ??= new OpenapiFitting(file);
  return fitting.misfit(subject, value) ?? openapi?.misfit(subject, value);
}

/** What of the answers in a file of kept ones does not fit, each once. */
export function misfitsIn(file: string): string[] {
  const found = new Set<string>();
  for (const line of wholeLines(file))
    for (const misfit of misfitsOf(JSON.parse(line) as KeptAnswer)) found.add(misfit);
  return [...found].filter((misfit) => !BY_DESIGN.some(({ said }) => said.test(misfit)));
}

/** What was asked and with which status it was answered, in the order of the answers' ends. */
export function statusesIn(file: string): string[] {
  return wholeLines(file).map((line) => {
    const { method, url, answer } = JSON.parse(line) as KeptAnswer;
    return `${method} ${url} ${readAnswer(answer)?.status}`;
  });
}

/** A process that is killed leaves the last one half written, which has no end. */
function wholeLines(file: string): string[] {
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
}

function* misfitsOf({ method, url, client, answer }: KeptAnswer): Generator<string, void> {
  const isModels = url.startsWith("/v1/models") && !url.includes(":");
  const asked = `${method} ${url}${isModels && client !== "" ? ` ${client}` : ""}`;
  const subject = SUBJECTS.find((one) => one.asked.test(asked));
  const read = readAnswer(answer);
  if (subject === undefined || read === undefined) return;
  for (const { name, text } of textsIn(read, subject)) {
    // A list that was cut has no end, so that nobody takes it for whole.
    const value = parsed(text) ?? (subject.event === "content" ? parsed(`${text}]`) : undefined);
    for (const one of subject.event === "content" && Array.isArray(value) ? value : [value]) {
      const isRefusal = read.status >= 400 || isError(one);
      const misfit = one === undefined ? `${text} is no JSON` : misfitOf(isRefusal ? subject.error : name, one);
      if (misfit !== undefined) yield `${asked} ${read.status}: in the ${name}, ${misfit}`;
    }
  }
}

/** The texts of an answer that are JSON. */
function* textsIn(
  read: ReadAnswer,
  { whole, event = whole }: Subject,
): Generator<{ name: string; text: string }, void> {
  if (read.contentType.startsWith("text/event-stream")) {
    for (const text of dataIn(read.body)) if (text !== "[DONE]") yield { name: event, text };
  } else if (read.contentType.startsWith("application/json") && read.isWhole && read.body !== "")
    yield { name: whole, text: read.body };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** An error in the envelope of its format; a failed response and the event of an error are what they say. */
function isError(value: unknown): boolean {
  if (!(value instanceof Object) || !(Reflect.get(value, "error") instanceof Object)) return false;
  return Reflect.get(value, "object") !== "response" && Reflect.get(value, "sequence_number") === undefined;
}

/** The data of every event that is whole. */
function* dataIn(stream: string): Generator<string, void> {
  for (const event of stream.split(/\r?\n\r?\n/).slice(0, -1)) {
    const lines = event.split(/\r?\n/).filter((line) => line.startsWith("data:"));
    if (lines.length > 0) yield lines.map((line) => line.slice(5).trimStart()).join("\n");
  }
}

interface ReadAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
  /** False where it was cut. */
  readonly isWhole: boolean;
}

/** Reads an answer as HTTP/1.1 writes it. */
function readAnswer(answer: string): ReadAnswer | undefined {
  const end = answer.indexOf("\r\n\r\n");
  const head = /^HTTP\/1\.1 (\d{3})/.exec(answer);
  if (end < 0 || head === null) return undefined;
  const header = (name: string): string =>
    new RegExp(`^${name}: *(.*)$`, "im").exec(answer.slice(0, end))?.[1]?.trim() ?? "";
  const rest = answer.slice(end + 4);
  const length = Number(header("content-length"));
  const { text, isWhole } =
    header("transfer-encoding") === "chunked"
      ? unchunked(rest)
      : { text: rest.slice(0, length), isWhole: rest.length >= length };
  return {
    status: Number(head[1]),
    contentType: header("content-type"),
    body: Buffer.from(text, "latin1").toString("utf8"),
    isWhole,
  };
}

/** The bytes of the chunks that are whole. */
function unchunked(body: string): Pick<ReadAnswer, "isWhole"> & { readonly text: string } {
  const pieces: string[] = [];
  for (let at = 0; ;) {
    const line = body.indexOf("\r\n", at);
    const length = line < 0 ? Number.NaN : Number.parseInt(body.slice(at, line), 16);
    if (!(length > 0) || body.length < line + 2 + length) return { text: pieces.join(""), isWhole: length === 0 };
    pieces.push(body.slice(line + 2, line + 2 + length));
    at = line + 2 + length + 2;
  }
}
