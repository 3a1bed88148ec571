/** The one pass over a body that asks for speech: what bounds and prices it. */
import { meterOf } from "../../../api/meters.js";
import {
  checkField,
  CHOICE,
  type FieldCheck,
  type FieldChecks,
  type FieldValue,
  MODEL,
  number,
  requireFields,
  TEXT,
} from "../../json/field.js";
import { readOnlyFacts, type ReadOnlyMembers, scanReadOnly } from "../../request/read-only.js";
import type { RequestFacts } from "../../wire.js";
import {
  FORMAT_DEFAULT,
  INPUT_CHARACTERS_MAX,
  SOUND_TYPES,
  type SoundFormat,
  soundTokensExpected,
  soundTokensMax,
} from "../facts.js";
import { MEMBERS, OWN_WORDS } from "./members.js";

const STREAM_FORMATS = ["audio", "sse"] as const;
const FIELDS: FieldChecks = new Map([
  ["model", MODEL],
  ["input", inputField()],
  ["voice", CHOICE],
  ["instructions", TEXT],
  ["response_format", oneOf(Object.keys(SOUND_TYPES))],
  ["speed", number(0.25, 4)],
  ["stream_format", oneOf(STREAM_FORMATS)],
]);

/** A body that was read. */
export interface Scan extends ReadOnlyMembers {
  readonly facts: RequestFacts;
  readonly format: SoundFormat;
  /** True where the client reads the sound as server-sent events. */
  readonly wantsEvents: boolean;
}

/** Throws BODY_INVALID, PARAMETER_INVALID or PARAMETER_MISSING. */
export function scanRequest(body: Buffer): Scan {
  const values = new Map<string, FieldValue>();
  const scanned = scanReadOnly(body, MEMBERS, OWN_WORDS, (cursor, key) => checkField(FIELDS, cursor, key, values));
  requireFields(values, ["model", "input", "voice"]);
  const characters = Number(values.get("input"));
  const speed = Number(values.get("speed") ?? 1);
  const used = meterOf("character", BigInt(characters));
  const facts: RequestFacts = {
    ...readOnlyFacts(String(values.get("model")), body.length, 1),
    surface: "speech",
    stream: true,
    outputTokensMax: soundTokensMax(characters, speed),
    soundTokensExpected: soundTokensExpected(characters, speed),
    metersMax: used,
    metersExpected: used,
  };
  const format = String(values.get("response_format") ?? FORMAT_DEFAULT);
  return { ...scanned, facts, format: format as SoundFormat, wantsEvents: values.get("stream_format") === "sse" };
}

/** The text, of which the number of characters is kept. */
function inputField(): FieldCheck {
  return {
    kinds: ["string"],
    must: `a text of 1 to ${INPUT_CHARACTERS_MAX} characters`,
    read: (cursor) => {
      const text = cursor.readString();
      // A sign outside the basic plane is two units of the string and one character.
      const pairs = text.match(/[\ud800-\udbff][\udc00-\udfff]/g)?.length ?? 0;
      const characters = text.length - pairs;
      return characters >= 1 && characters <= INPUT_CHARACTERS_MAX ? characters : undefined;
    },
  };
}

function oneOf(names: readonly string[]): FieldCheck {
  return {
    kinds: ["string"],
    must: `one of ${names.join(", ")}`,
    read: (cursor) => {
      const name = cursor.readString();
      return names.includes(name) ? name : undefined;
    },
  };
}
