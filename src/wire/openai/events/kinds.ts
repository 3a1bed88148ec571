/** What the members of a chunk of OpenAI's wires are, those of other dialects among them. */
import { kindTable } from "../../events/kinds.js";

/** Of the chunk itself, and of a whole answer; what a search of the upstream's found is among them. */
export const CHUNK_KINDS = kindTable({
  holds: "choices",
  envelope: `
    id object created created_at model type provider system_fingerprint service_tier usage
    usage_breakdown x_groq timings time_info perf_metrics cost error obfuscation p nonce metadata
    moderation request_id warnings kv_transfer_params prompt_filter_results prompt_annotations
    prompt_logprobs prompt_token_ids citations search_results videos images`,
});

/** Of a choice, beside what it says: what ends it, the tokens that were likely in its text, and what filters found. */
export const CHOICE_ENVELOPE = `
  index finish_reason native_finish_reason stop_reason matched_stop seed usage error
  logprobs prompt_logprobs prompt_token_ids token_ids
  content_filter_result content_filter_results content_filter_offsets`;
