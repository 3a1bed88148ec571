/** What stands for earlier turns is refused on every wire, in any spelling: a request without it is another one. */
import { describe, expect, test } from "vitest";
import { GatewayError } from "../../src/base/errors.js";
import { EARLIER_TURNS } from "../../src/wire/request/earlier-turns.js";
import { CLIENT_WIRES, LEAST, read } from "./asked.js";

/** Names that mean another thing on a wire, and why they pass there or are judged elsewhere. */
const OTHERWISE: Readonly<Record<string, readonly string[]>> = {
  // A gate of its own knows whose container it is.
  anthropic: ["container"],
  // A name for who watches: nothing is read from it.
  "openai-chat": ["session_id"],
};
const SPELLINGS: readonly ((name: string) => string)[] = [
  (name) => name,
  (name) => name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
  (name) => name.toUpperCase(),
  (name) => name.replace("s", "ſ"),
];

const WIRES = [
  ...CLIENT_WIRES.map(({ name }) => ({ wire: name, least: LEAST[name] ?? {} })),
  { wire: "gemini", least: { generateContentRequest: { model: "models/m", ...LEAST["gemini"] } } },
];

function withMember(least: object, name: string, value: unknown): string {
  if (!("generateContentRequest" in least)) return JSON.stringify({ ...least, [name]: value });
  return JSON.stringify({ generateContentRequest: { ...(least.generateContentRequest as object), [name]: value } });
}

describe.each(WIRES)("on $wire", ({ wire, least }) => {
  test.each(Object.entries(EARLIER_TURNS))("%s is refused by its name", (member, { code, unsupported }) => {
    if (OTHERWISE[wire]?.includes(member) === true) return;
    for (const spelled of new Set(SPELLINGS.map((spell) => spell(member))))
      for (const value of ["of-before", { type: "create" }, { type: "continue", previous_message_id: "msg_1" }]) {
        const error = refusalOf(wire, withMember(least, spelled, value));
        expect(error, spelled).toMatchObject({ reason: "ERROR_REASON_PARAMETER_INVALID", http: 400 });
        expect(error?.metadata, spelled).toMatchObject({
          ...(code === undefined ? {} : { code }),
          ...(unsupported === undefined ? {} : { unsupported }),
        });
      }
  });

  test.each(Object.keys(EARLIER_TURNS))("%s that says nothing is nothing to refuse", (member) => {
    for (const value of [null, "", false]) expect(refusalOf(wire, withMember(least, member, value))).toBeUndefined();
  });
});

function refusalOf(wire: string, body: string): GatewayError | undefined {
  try {
    read(wire, body);
    return undefined;
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}
