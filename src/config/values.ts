/** The kinds of values in a settings file: each reads the value's text and says what is right where it is wrong. */
import { z } from "zod";
import { AMOUNT_NANOS_MAX, parseUsd } from "../money.js";
import { suggest } from "./suggestion.js";

/** A value read from its text; `parse` returns undefined where it is wrong, and `rule` says what is right. */
export function reading<Value>(rule: string, parse: (value: string) => Value | undefined) {
  return z
    .string({ error: (issue) => (issue.input === undefined ? `is missing: ${rule}` : rule) })
    .transform((value, context): Value => {
      const parsed = parse(value);
      if (parsed !== undefined) return parsed;
      context.addIssue({ code: "custom", message: rule });
      return z.NEVER;
    });
}

/** Text of 1 to `lengthMax` characters without control characters. */
export function text(lengthMax: number) {
  return reading(`must be text of 1 to ${lengthMax} characters`, (value) =>
    // oxlint-disable-next-line no-control-regex -- Control characters are what it refuses.
    value.length >= 1 && value.length <= lengthMax && !/[\u0000-\u001f\u007f]/.test(value) ? value : undefined,
  );
}

/** A whole number in a range, both ends included. */
export function wholeNumber(least: number, most: number) {
  return reading(`must be a whole number from ${least} to ${most}`, (value) => {
    const number = /^\d{1,15}$/.test(value) ? Number(value) : -1;
    return number >= least && number <= most ? number : undefined;
  });
}

/** `true` or `false`. */
export const truth = reading("must be true or false", (value) =>
  value === "true" || value === "false" ? value === "true" : undefined,
);

/** USD, read as nano-USD. */
export const usd = reading('must be USD such as "25.00", with at most nine places', (value) => {
  const nanos = parseUsd(value);
  return nanos === undefined || nanos > AMOUNT_NANOS_MAX ? undefined : nanos;
});

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

/** A block left empty counts as one without fields. */
export function orEmpty<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess((value) => (value === undefined ? {} : value), schema);
}

/** A block of blocks, each under its own name; left out, it is empty. */
export function named<Schema extends z.ZodType>(form: RegExp, rule: string, schema: Schema) {
  return orEmpty(z.record(z.string().regex(form, rule), schema, { error: () => "must be a block of named entries" }));
}
