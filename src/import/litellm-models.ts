/** The models that a LiteLLM proxy keeps in its database, as settings. */
import { stringify } from "yaml";
import { type Draft, emptyDraft } from "./draft.js";
import { importLiteLlm } from "./litellm.js";
import type { LiteLlmRows } from "./litellm-rows.js";
import { decrypted } from "./litellm-secrets.js";
import { isBlock, type Params } from "./litellm-upstream.js";

const CREDENTIAL = "litellm_credential_name";

/**
 * `salt`: LITELLM_SALT_KEY, or the master key where LiteLLM ran without one. A model that it does not open is a note of
 * the draft.
 */
export function draftOfModels({ models, credentials }: LiteLlmRows, salt: string | undefined): Draft {
  const shared = new Map(credentials.map((one) => [one.credential_name, one.credential_values]));
  const list: object[] = [];
  const closed: string[] = [];
  for (const { model_name: name, litellm_params: params, model_info: info } of models) {
    const own = opened(params, salt);
    const credential = own && own[CREDENTIAL];
    const values = credential === undefined ? {} : opened(shared.get(String(credential)), salt);
    if (own === undefined || values === undefined) {
      closed.push(name);
      continue;
    }
    const { [CREDENTIAL]: _, ...rest } = own;
    list.push({ model_name: name, litellm_params: { ...values, ...rest }, model_info: isBlock(info) ? info : {} });
  }
  const draft = list.length === 0 ? emptyDraft() : importLiteLlm(stringify({ model_list: list }));
  const reason =
    salt === undefined
      ? "it is encrypted: set LITELLM_SALT_KEY, or LITELLM_MASTER_KEY where LiteLLM has no salt key"
      : "the salt key does not open it: set LITELLM_SALT_KEY to the one that LiteLLM has";
  for (const name of closed) draft.notes.push({ what: `the model ${name}`, reason });
  return draft;
}

/** The block with its texts opened; undefined where one of them stays closed. */
function opened(block: unknown, salt: string | undefined): Params | undefined {
  if (!isBlock(block)) return {};
  const open: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(block)) {
    const text = typeof value === "string" && salt !== undefined ? decrypted(value, salt) : value;
    if (text === undefined || (typeof value === "string" && salt === undefined)) return undefined;
    open[name] = text;
  }
  return open;
}
