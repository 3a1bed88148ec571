/** The kinds of values in a settings file: each reads the value's text and says what is right where it is wrong. */
import { z } from "zod";
import { AMOUNT_NANOS_MAX, parseUsd } from "../base/money.js";
import { parseTimeout } from "../base/timeout.js";
import { suggest } from "./suggestion.js";

/** What an editor takes for a value, in a JSON Schema: it knows a number from a text, and we read both. */
export type EditorForm = Readonly<Record<string, unknown>>;

/**
 * A value read from its text; `parse` returns undefined where it is wrong, and `rule` says what is right. `form` is
 * what editors take for it, text by default.
 */
export function reading<Value>(
  rule: string,
  parse: (value: string) => Value | undefined,
  form: EditorForm = { type: "string" },
  marks: Marks = {},
) {
  return z
    .string({ error: (issue) => (issue.input === undefined ? `is missing: ${rule}` : rule) })
    .meta({ rule, form, ...marks })
    .transform((value, context): Value => {
      const parsed = parse(value);
      if (parsed !== undefined) return parsed;
      context.addIssue({ code: "custom", message: rule });
      return z.NEVER;
    });
}

/**
 * Who gets to see a secret: nobody, or the address that its block names. Every field of the block may change that
 * address, but those in `unchangedBy`: a new field counts until somebody decides that it does not.
 */
export type SecretMark =
  | { readonly isSent: false }
  | { readonly isSent: true; readonly unchangedBy: readonly string[] };

/** What is said of a field beside its value. A field without a mark is plain. */
export interface Marks {
  readonly secret?: SecretMark;
}

/** A value that the environment gives is known when the file is read, and not before. */
const VARIABLE = "\\$\\{";

/** A number, written as one or as text. */
function numberForm(pattern: string, bounds: EditorForm): EditorForm {
  return {
    anyOf: [
      { type: "number", ...bounds },
      { type: "string", pattern: `${pattern}|${VARIABLE}` },
    ],
  };
}

/** A decimal of at least 0. */
export const decimalForm = numberForm("^\\d+(\\.\\d+)?$", { minimum: 0 });

/** Text of 1 to `lengthMax` characters without control characters. */
export function text(lengthMax: number, marks: Marks = {}) {
  return reading(
    `must be text of 1 to ${lengthMax} characters`,
    (value) =>
      // oxlint-disable-next-line no-control-regex -- Control characters are what it refuses.
      value.length >= 1 && value.length <= lengthMax && !/[\u0000-\u001f\u007f]/.test(value) ? value : undefined,
    { type: ["string", "number", "boolean"], minLength: 1 },
    marks,
  );
}

/** A whole number in a range, both ends included. */
export function wholeNumber(least: number, most: number) {
  return reading(
    `must be a whole number from ${least} to ${most}`,
    (value) => {
      const number = /^\d{1,15}$/.test(value) ? Number(value) : -1;
      return number >= least && number <= most ? number : undefined;
    },
    numberForm("^\\d{1,15}$", { multipleOf: 1, minimum: least, maximum: most }),
  );
}

/** A word of a few. */
export function oneOf<Word extends string>(words: readonly Word[], rule = `must be one of ${words.join(", ")}`) {
  return reading(rule, (value) => words.find((word) => word === value), wordForm(words));
}

/** How an editor knows one of some words, or a variable that has one. */
export function wordForm(words: readonly string[]) {
  return { anyOf: [{ enum: words }, { type: "string", pattern: VARIABLE }] };
}

/** `true` or `false`. */
export const truth = reading(
  "must be true or false",
  (value) => (value === "true" || value === "false" ? value === "true" : undefined),
  { anyOf: [{ type: "boolean" }, { enum: ["true", "false"] }, { type: "string", pattern: VARIABLE }] },
);

/** USD, read as nano-USD. */
export const usd = reading(
  'must be USD such as "25.00", with at most nine decimal places',
  (value) => {
    const nanos = parseUsd(value);
    return nanos === undefined || nanos > AMOUNT_NANOS_MAX ? undefined : nanos;
  },
  decimalForm,
);

/**
 * A block with these fields and no others. Its message for unknown fields is a line each, in the order of `issue.keys`.
 */
export function block<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.strictObject(shape, {
    error: (issue) => {
      if (issue.code !== "unrecognized_keys") return `must be a block of ${Object.keys(shape).join(", ")}`;
      return issue.keys.map((key) => `is not known here${suggest(key, Object.keys(shape))}`).join("\n");
    },
  });
}

/** What preprocessing hides from whoever asks which values a block needs. */
export const MAY_BE_LEFT_OUT = { mayBeLeftOut: true };

/** A block left empty counts as one without fields. */
export function orEmpty<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess((value) => (value === undefined ? {} : value), schema).meta(MAY_BE_LEFT_OUT);
}

/** A block of blocks, each under its own name; left out, it is empty. */
export function named<Schema extends z.ZodType>(form: RegExp, rule: string, schema: Schema) {
  return orEmpty(z.record(z.string().regex(form, rule), schema, { error: () => "must be a block of named entries" }));
}

/** A time such as `30s`, within bounds, in milliseconds; undefined for anything else. */
export function timeWithin(value: string, leastMs: number, mostMs: number): number | undefined {
  const timeMs = parseTimeout(value);
  return timeMs !== undefined && timeMs >= leastMs && timeMs <= mostMs ? timeMs : undefined;
}

/** A value that is such a time; `rule` says its bounds. */
export function span(rule: string, leastMs: number, mostMs: number) {
  return reading(rule, (value) => timeWithin(value, leastMs, mostMs));
}
