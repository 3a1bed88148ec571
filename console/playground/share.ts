/** The state of the playground in a link. It stands behind the #, which browsers do not send to a server. */
import { NO_SETTINGS, type Settings } from "./parameters.ts";
import { SILENT } from "./chat.ts";
import type { Exchange } from "./use-talk.ts";

/** Longer links are cut by chats and mail programs. */
const LINK_CHARS_MAX = 6_000;
const NAME = "shared=";

export interface Shared {
  readonly settings: Settings;
  readonly draft: string;
  readonly exchanges: readonly Exchange[];
}

/** What a link leaves out. */
export type LeftOut = "attachments" | "toolCalls" | "conversation" | "draft" | "settings";

/** An exchange as a link holds it: the message, then each model with its answer. */
type Short = readonly [string, ...(readonly [string, string])[]];
interface Packed {
  readonly settings?: Partial<Settings>;
  readonly draft?: string;
  readonly exchanges?: readonly Short[];
}

/** The link, and what it leaves out because it is no text or makes the link too long. */
export function linkOf(
  page: string,
  { settings, draft, exchanges }: Shared,
): { readonly link: string; readonly leftOut: readonly LeftOut[] } {
  const given = Object.fromEntries(Object.entries(settings).filter(([, text]) => text !== ""));
  const leftOut: LeftOut[] = [];
  if (exchanges.some(({ attachments }) => attachments.length > 0)) leftOut.push("attachments");
  if (exchanges.some(({ answers }) => answers.some(({ rounds }) => rounds.some(({ heard }) => heard.calls.length > 0))))
    leftOut.push("toolCalls");
  let packed: Packed = { settings: given, draft, exchanges: exchanges.map(shortOf) };
  for (const part of ["conversation", "draft", "settings"] as const) {
    if (packedText(packed).length <= LINK_CHARS_MAX) break;
    const { [part === "conversation" ? "exchanges" : part]: _, ...rest } = packed;
    packed = rest;
    leftOut.push(part);
  }
  return { link: `${page}#${NAME}${packedText(packed)}`, leftOut };
}

/** The state in a link's part behind the #; undefined where there is none, or none that can be read. */
export function sharedIn(hash: string): Shared | undefined {
  const text = hash.replace(/^#/, "");
  if (!text.startsWith(NAME)) return undefined;
  try {
    const bytes = Uint8Array.from(atob(fromUrl(text.slice(NAME.length))), (char) => char.codePointAt(0) ?? 0);
    // The edge: a person may have changed the link, so each part is checked.
    const { settings, draft, exchanges } = JSON.parse(new TextDecoder().decode(bytes)) as Packed;
    return {
      settings: textsOf(settings ?? {}),
      draft: typeof draft === "string" ? draft : "",
      exchanges: (exchanges ?? []).map(exchangeOf),
    };
  } catch {
    return undefined;
  }
}

/** The settings among the members of an object that somebody may have changed. */
export function textsOf(given: object): Settings {
  const known = Object.entries(given).filter(([name, text]) => name in NO_SETTINGS && typeof text === "string");
  return { ...NO_SETTINGS, ...Object.fromEntries(known) };
}

function shortOf({ text, answers }: Exchange): Short {
  return [
    text,
    ...answers.map(({ model, rounds }) => [model, rounds.map(({ heard }) => heard.text).join("\n\n")] as const),
  ];
}

function exchangeOf([text, ...answers]: Short): Exchange {
  return {
    text: String(text),
    attachments: [],
    answers: answers.map(([model, answer]) => ({
      model: String(model),
      rounds: [{ heard: { ...SILENT, text: String(answer) } }],
      state: "done",
    })),
  };
}

function packedText(packed: Packed): string {
  const bytes = new TextEncoder().encode(JSON.stringify(packed));
  const text = btoa(Array.from(bytes, (byte) => String.fromCodePoint(byte)).join(""));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function fromUrl(text: string): string {
  return text.replaceAll("-", "+").replaceAll("_", "/");
}
