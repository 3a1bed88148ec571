/** What a request says of whom it is for and who sent it: end user, tags, session and client, each bounded. */
import {
  CLIENT_HEADER,
  CLIENT_REQUEST_HEADER,
  CONVERSATION_HEADER,
  LOG_HEADER,
  TAGS_HEADER,
  USER_HEADER,
} from "../api/request-headers.js";
import type { CallMetadata } from "../api/channel.js";
import { conversationIn } from "../api/conversation.js";
import { sessionOfUserId } from "./user-id.js";

export interface Attributes {
  /** The person behind the request, as the client names it; empty where it names none. */
  readonly endUser: string;
  /** Such as `team=search`, without repeats, in the order in which they came. */
  readonly tags: readonly string[];
  /** The conversation that it belongs to, as the client names it. */
  readonly session: string;
  /** Where that stands: in a header, in `session_id`, or in `metadata`; empty where there is none. */
  readonly sessionSource: "header" | "session_id" | "metadata" | "";
  /** The key by which the client groups requests in an upstream's prompt cache. Records do not keep it. */
  readonly promptCacheKey: string;
  /** The client's program, such as OpenAI/Python 1.109.0. */
  readonly client: string;
  /** The client's own id of the request. */
  readonly clientRequestId: string;
}

/** A body with the places of its members. */
export interface AskedBody {
  readonly bytes: Buffer;
  readonly members: readonly { readonly key: string; readonly valueStart: number; readonly end: number }[];
}

/** Tags of one request, and the characters of one and of every other attribute. */
const TAGS_MAX = 16;
const TAG_CHARACTERS_MAX = 128;
const TEXT_CHARACTERS_MAX = 256;
/** A longer member is no name of anybody. */
const MEMBER_BYTES_MAX = 16_384;

const NO_TAGS: readonly string[] = [];
/** The word by which a client asks that nothing is kept that names a person. */
const LOG_NOTHING = "none";
const NAMELESS: Omit<Attributes, "client"> = {
  endUser: "",
  tags: NO_TAGS,
  session: "",
  sessionSource: "",
  promptCacheKey: "",
  clientRequestId: "",
};
const CONTROL = /\p{Cc}/gu;

/** True where the client asks that neither content nor whom the request is for is kept. */
export function isNameless(metadata: CallMetadata): boolean {
  return metadata[LOG_HEADER]?.trim().toLowerCase() === LOG_NOTHING;
}

/** Reads them off the headers, and off the members of the body that name whom it is for and what it belongs to. */
export function attributesOf(metadata: CallMetadata, body: AskedBody | undefined): Attributes {
  const client = shortened(metadata[CLIENT_HEADER] ?? "", TEXT_CHARACTERS_MAX);
  if (isNameless(metadata)) return { ...NAMELESS, client };
  const users = { header: metadata[USER_HEADER] ?? "", safetyIdentifier: "", user: "", metadata: "" };
  const sessions = { header: conversationIn(metadata[CONVERSATION_HEADER]), body: "", metadata: "" };
  const named = metadata[TAGS_HEADER];
  let promptCacheKey = "";
  let tags = named === undefined ? NO_TAGS : tagsOf(named.split(","));
  for (const member of body?.members ?? []) {
    switch (member.key) {
      case "metadata": {
        const found = valueOf(body, member);
        if (typeof found !== "object" || found === null || Array.isArray(found)) continue;
        users.metadata = textOf(Reflect.get(found, "user_id"));
        sessions.metadata = conversationIn(Reflect.get(found, "session_id"));
        tags = tagsOf([...tags, ...tagTexts(found)]);
        break;
      }
      case "safety_identifier":
        users.safetyIdentifier = textOf(valueOf(body, member));
        break;
      case "user":
        users.user = textOf(valueOf(body, member));
        break;
      case "session_id":
        sessions.body = conversationIn(valueOf(body, member));
        break;
      case "prompt_cache_key":
        promptCacheKey = conversationIn(valueOf(body, member));
        break;
    }
  }
  const { endUser, session } = personIn([users.header, users.safetyIdentifier, users.user, users.metadata]);
  return {
    endUser: storedName(endUser),
    tags,
    ...sessionOf({ ...sessions, metadata: sessions.metadata || session }),
    promptCacheKey,
    client,
    clientRequestId: shortened(metadata[CLIENT_REQUEST_HEADER] ?? "", TEXT_CHARACTERS_MAX),
  };
}

/** The first of them that is one. */
function sessionOf(named: {
  readonly header: string;
  readonly body: string;
  readonly metadata: string;
}): Pick<Attributes, "session" | "sessionSource"> {
  if (named.header !== "") return { session: named.header, sessionSource: "header" };
  if (named.body !== "") return { session: named.body, sessionSource: "session_id" };
  return { session: named.metadata, sessionSource: named.metadata === "" ? "" : "metadata" };
}

/** The first of the ids that is a person's, and the session that the first of the others names. */
function personIn(ids: readonly string[]): Pick<Attributes, "endUser" | "session"> {
  let [endUser, session] = ["", ""];
  for (const id of ids) {
    const ofSession = sessionOfUserId(id);
    if (ofSession === undefined) endUser ||= id;
    else session ||= conversationIn(ofSession);
  }
  return { endUser, session };
}

function* tagTexts(found: object): Generator<string> {
  for (const [name, value] of Object.entries<unknown>({ ...found })) {
    if (name === "user_id" || name === "session_id") continue;
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") yield `${name}=${value}`;
  }
}

function tagsOf(texts: readonly string[]): readonly string[] {
  const tags = new Set<string>();
  for (const text of texts) {
    if (tags.size >= TAGS_MAX) break;
    const tag = shortened(text.trim(), TAG_CHARACTERS_MAX);
    if (tag !== "") tags.add(tag);
  }
  return [...tags];
}

/** The member's value; undefined where it is too long or not what JSON allows. */
function valueOf(body: AskedBody | undefined, member: AskedBody["members"][number]): unknown {
  if (body === undefined || member.end - member.valueStart > MEMBER_BYTES_MAX) return undefined;
  try {
    return JSON.parse(body.bytes.toString("utf8", member.valueStart, member.end));
  } catch {
    return undefined;
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The name of an end user as records and content keep it. */
export function storedName(name: string): string {
  return shortened(name, TEXT_CHARACTERS_MAX);
}

/** No line of a log or a table is broken by what a client calls somebody. */
function shortened(text: string, charactersMax: number): string {
  if (text === "") return text;
  return (text.length > charactersMax ? text.slice(0, charactersMax) : text).replace(CONTROL, " ");
}
