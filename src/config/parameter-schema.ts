/** What happens to parameters of chat requests, as settings say it. */
import { z } from "zod";
import { defined } from "../base/defined.js";
import {
  namesIn,
  PARAMETER_NAMES,
  type ParameterName,
  type Parameters,
  type ParameterValues,
  sameParameters,
} from "../wire/request/parameters.js";
import { suggest } from "./suggestion.js";
import { block, oneOf, reading, text, truth, wholeNumber, wordForm } from "./values.js";

const TOKENS_MAX = 1_000_000_000;
const STOP_STRINGS_MAX = 16;
const STOP_RULE = `must be a list of 1 to ${STOP_STRINGS_MAX} texts, such as ["END"]`;
const EFFORT = /^[a-z][a-z0-9_]{0,31}$/;
const DROP_RULE = "must be a list of parameters, such as [top_k, seed]";

function decimal(least: number, most: number) {
  return reading(
    `must be a number from ${least} to ${most}`,
    (value) => {
      const number = /^-?\d{1,3}(\.\d{1,6})?$/.test(value) ? Number(value) : NaN;
      return number >= least && number <= most ? number : undefined;
    },
    { type: ["number", "string"] },
  );
}

const seed = reading(
  "must be a whole number of at most 15 digits",
  (value) => (/^-?\d{1,15}$/.test(value) ? Number(value) : undefined),
  { type: ["integer", "string"] },
);

const values = block({
  temperature: decimal(0, 2).optional().describe("The randomness of the answer, from 0 to 2"),
  top_p: decimal(0, 1).optional().describe("The probability mass of the tokens to choose from, from 0 to 1"),
  top_k: wholeNumber(1, TOKENS_MAX).optional().describe("The number of most likely tokens to choose from"),
  output_tokens_max: wholeNumber(1, TOKENS_MAX)
    .optional()
    .describe(
      "The maximum number of output tokens, which also lowers the hold. On a target only in `set`, and only to lower it",
    ),
  reasoning_effort: reading("must be an effort such as low, in lower case", (value) =>
    EFFORT.test(value) ? value : undefined,
  )
    .optional()
    .describe("How much the model reasons, such as `low` or `none`; it replaces a number of reasoning tokens"),
  reasoning_tokens: wholeNumber(1, TOKENS_MAX)
    .optional()
    .describe("The maximum number of reasoning tokens; it replaces an effort"),
  stop: z
    .array(text(256), { error: () => STOP_RULE })
    .min(1, STOP_RULE)
    .max(STOP_STRINGS_MAX, STOP_RULE)
    .optional()
    .describe("Strings that end the answer"),
  seed: seed.optional().describe("The seed of the answer"),
  presence_penalty: decimal(-2, 2).optional().describe("The penalty of tokens that occurred, from -2 to 2"),
  frequency_penalty: decimal(-2, 2).optional().describe("The penalty of tokens by how often they occurred, -2 to 2"),
  service_tier: text(64).optional().describe("The service tier, such as `flex`. Only on a model, whose price has it"),
  verbosity: oneOf(["low", "medium", "high"]).optional().describe("How much the model writes"),
  parallel_tool_calls: truth.optional().describe("Whether the model may call several tools at once"),
}).transform((said): ParameterValues => defined(said));

const name = z
  .string({ error: () => DROP_RULE })
  .meta({ rule: DROP_RULE, form: wordForm(PARAMETER_NAMES) })
  .transform((value, context): ParameterName => {
    const known = PARAMETER_NAMES.find((one) => one === value);
    if (known !== undefined) return known;
    context.addIssue({ code: "custom", message: `is not known here${suggest(value, PARAMETER_NAMES)}` });
    return z.NEVER;
  });

const said = block({
  default: values.optional().describe("Fills in what a request does not have"),
  set: values.optional().describe("Replaces what a request has"),
  drop: z
    .array(name, { error: () => DROP_RULE })
    .max(PARAMETER_NAMES.length, DROP_RULE)
    .optional()
    .describe(`Removes what a request has: names among ${PARAMETER_NAMES.map((one) => `\`${one}\``).join(", ")}`),
})
  .transform(({ default: fill = {}, set = {}, drop = [] }): Parameters => ({ default: fill, set, drop }))
  .superRefine((parameters, context) => {
    const seen = new Map<ParameterName, string>();
    for (const [place, one] of placesIn(parameters)) {
      const other = seen.get(one);
      if (other !== undefined)
        context.addIssue({ code: "custom", path: [place], message: `says the same parameter as '${other}': ${one}` });
      for (const same of sameParameters(one)) seen.set(same, place);
    }
  });

/** Of a model. */
export const parameters = said;

/** Of a target. Money is held before a target is chosen, so what decides the price stands on the model. */
export const targetParameters = said.superRefine((parameters, context) => {
  for (const [place, one] of placesIn(parameters)) {
    const isOfModel = one === "service_tier" || (one === "output_tokens_max" && place !== "set");
    if (isOfModel)
      context.addIssue({ code: "custom", path: [place], message: `must not name ${one}, which is only for a model` });
  }
});

function placesIn({ default: fill, set, drop }: Parameters): readonly (readonly [keyof Parameters, ParameterName])[] {
  return [
    ...namesIn(fill).map((one) => ["default", one] as const),
    ...namesIn(set).map((one) => ["set", one] as const),
    ...drop.map((one) => ["drop", one] as const),
  ];
}
