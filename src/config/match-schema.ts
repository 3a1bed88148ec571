/** Which requests may go to a target, as a settings file says it. */
import { MATCH_HEADER, MATCH_HEADER_PREFIX } from "../api/request-headers.js";
import { accountId } from "./account-schema.js";
import { block, reading, text } from "./values.js";

const PAIR_RULE = "must be name=value";
const pair = reading(PAIR_RULE, pairOf);
const matchHeader = reading(`${PAIR_RULE}, with a name that begins with ${MATCH_HEADER_PREFIX}`, (value) => {
  const [name, said] = pairOf(value) ?? ["", ""];
  return MATCH_HEADER.test(name) ? ([name, said] as const) : undefined;
});

function pairOf(value: string): readonly [string, string] | undefined {
  const [, name, said] = /^([^=]{1,64})=([^]{1,512})$/.exec(value) ?? [];
  return name === undefined || said === undefined ? undefined : [name, said];
}

/** Of a target: all that is said must match. */
export const match = block({
  account: accountId.optional().describe("The id of the account"),
  key: text(64).optional().describe("The id of the key"),
  label: pair.optional().describe("A label of the key, as `name=value`: see `metadata` of a key"),
  header: matchHeader
    .optional()
    .describe(`A header of the request, as \`name=value\`; the name begins with \`${MATCH_HEADER_PREFIX}\``),
});
