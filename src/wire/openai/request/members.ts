/** Members that upstreams of OpenAI's wires take beside OpenAI's own, as far as they steer model, limits or price. */
import type { MemberRules } from "../../request/members.js";

const ONE_MODEL = "the request's 'model' names the one model that is asked, and the settings which upstream answers";
const CONTENT = "what the upstream keeps is shared by all who use this gateway; send the content itself";
const OPERATORS = "it is for whoever runs the upstream";

/** Further names of the output limit: read as such, and written as the upstream's own. */
export const LIMIT_NAMES: readonly string[] = ["n_predict", "num_predict", "max_new_tokens", "max_output_tokens"];

/** OpenRouter's members that say who may answer. Wires that do not read them refuse them. */
export const ROUTES: readonly string[] = ["models", "provider"];

/** For every request, whatever it asks for. */
export const ROUTED: MemberRules = {
  refused: {
    // OpenRouter's, and what gateways like it take.
    models: ONE_MODEL,
    ["provider"]: ONE_MODEL,
    route: ONE_MODEL,
    preset: ONE_MODEL,
    fallbacks: ONE_MODEL,
    plugins: "what they do has a price of its own; ask for a tool that has one",
    transforms: "they change what is read and charged",
    extra_body: "write its members into the request itself",
    extra_headers: "headers are the gateway's own",
    extra_query: "addresses are the gateway's own",
    // vLLM's and SGLang's.
    priority: OPERATORS,
    request_id: OPERATORS,
    rid: OPERATORS,
    lora: OPERATORS,
    lora_path: OPERATORS,
    lora_request: OPERATORS,
    adapter_id: OPERATORS,
    kv_transfer_params: OPERATORS,
    vllm_xargs: OPERATORS,
    session_params: OPERATORS,
    logits_processors: OPERATORS,
    custom_logit_processor: OPERATORS,
    bootstrap_host: OPERATORS,
    bootstrap_port: OPERATORS,
    bootstrap_room: OPERATORS,
    data_parallel_rank: OPERATORS,
    // Of servers in parts: whose cache an answer goes on from, and which of them answers.
    ec_transfer_params: OPERATORS,
    disaggregated_params: OPERATORS,
    disagg_prefill_dp_rank: OPERATORS,
    routed_dp_rank: OPERATORS,
    nvext: OPERATORS,
    // A program that writes the prompt, and tensors that stand for one: of them nobody knows how much is read.
    chat_template: OPERATORS,
    prompt_embeds: OPERATORS,
    input_embeds: OPERATORS,
    // llama.cpp's.
    id_slot: OPERATORS,
    slot_id: OPERATORS,
    // What the upstream keeps for all who use the gateway, whichever door it is named at.
    vector_store_ids: CONTENT,
    file_id: CONTENT,
    file_ids: CONTENT,
    skill_id: CONTENT,
    // xAI's: who asks again for the answer would get anybody's.
    deferred: "this gateway keeps no answers; the answer comes to whoever waits for it",
    background: "this gateway keeps no answers; the answer comes to whoever waits for it",
    // Azure's.
    data_sources: CONTENT,
    deployment_id: ONE_MODEL,
    engine: ONE_MODEL,
  },
};

/** For requests that generate. */
export const GENERATED: MemberRules = {
  tiers: { service_tier: [], speed: [], inference_geo: ["global"] },
  tools: {
    web_search_options: "web_search",
    // Qwen's.
    enable_search: "web_search",
    enable_code_interpreter: "code_interpreter",
    // xAI's.
    search_parameters: "live_search",
    mcp_servers: "mcp",
  },
  refused: {
    ...ROUTED.refused,
    best_of: "answers that are only chosen among are paid too; ask for several with 'n'",
    n_cmpl: "write 'n'",
    num_beams: "beams are paid too; ask for several answers with 'n'",
    use_beam_search: "beams are paid too; ask for several answers with 'n'",
    max_length: "write the limit of the output as 'max_tokens'",
    max_tokens_to_sample: "write the limit of the output as 'max_tokens'",
    compound_custom: ONE_MODEL,
  },
};
