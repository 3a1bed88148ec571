/** Where a LiteLLM deployment goes: the family, the address and the key of its upstream. */
import type { DraftUpstream } from "./draft.js";
import { ENTRA_PARAMS } from "./litellm-identities.js";

export type Params = Readonly<Record<string, unknown>>;

export interface Deployment {
  readonly upstream: DraftUpstream;
  /** The model as the upstream names it. */
  readonly model: string;
  readonly kind?: "completion";
}

interface Prefix {
  readonly family: string;
  /** The family's own host, whose address is not written. */
  readonly host?: string;
  readonly kind?: "completion";
  /** What stands between the prefix and the model. */
  readonly strip?: RegExp;
  readonly needsAddress?: string;
}

/** What LiteLLM writes before a model's name, and the family that speaks the same. */
const PREFIXES: Readonly<Record<string, Prefix>> = {
  openai: { family: "openai", host: "api.openai.com" },
  "text-completion-openai": { family: "openai", host: "api.openai.com", kind: "completion" },
  anthropic: { family: "anthropic", host: "api.anthropic.com" },
  azure: { family: "azure", needsAddress: "the resource, such as https://name.openai.azure.com" },
  bedrock: { family: "bedrock", strip: /^(?:converse|invoke)\// },
  bedrock_converse: { family: "bedrock" },
  vertex_ai: { family: "vertex", strip: /^gemini\// },
  gemini: { family: "gemini", host: "generativelanguage.googleapis.com" },
  deepseek: { family: "deepseek", host: "api.deepseek.com" },
  mistral: { family: "mistral", host: "api.mistral.ai" },
  groq: { family: "groq", host: "api.groq.com" },
  xai: { family: "xai", host: "api.x.ai" },
  dashscope: { family: "qwen", host: "dashscope-intl.aliyuncs.com" },
  moonshot: { family: "moonshot", host: "api.moonshot.ai" },
  openrouter: { family: "openrouter", host: "openrouter.ai" },
  cohere: { family: "cohere", host: "api.cohere.com" },
  cohere_chat: { family: "cohere", host: "api.cohere.com" },
  jina_ai: { family: "jina", host: "api.jina.ai" },
  voyage: { family: "voyage", host: "api.voyageai.com" },
  ollama: { family: "ollama" },
  ollama_chat: { family: "ollama" },
  hosted_vllm: { family: "vllm" },
  vllm: { family: "vllm" },
  litellm_proxy: { family: "openai-compatible", needsAddress: "the other gateway" },
  openai_like: { family: "openai-compatible", needsAddress: "the server" },
  custom_openai: { family: "openai-compatible", needsAddress: "the server" },
};
/** Names that LiteLLM knows without a prefix. */
const BARE: readonly (readonly [RegExp, string])[] = [
  [/^(gpt-|chatgpt-|o\d|text-embedding-|davinci|babbage)/, "openai"],
  [/^claude-/, "anthropic"],
  [/^gemini-/, "vertex_ai"],
  [/^mistral-|^codestral|^open-mi/, "mistral"],
];
const OTHERWISE = "where its server speaks OpenAI's wire, write an upstream of the family openai-compatible";
const KEYLESS = new Set(["bedrock", "vertex", "ollama", "vllm", "openai-compatible"]);

/** The deployment, or why there is none. */
export function deploymentOf(params: Params): Deployment | string {
  const name = textOf(params["model"]) ?? "";
  const said = textOf(params["custom_llm_provider"]);
  const [head = "", ...tail] = name.split("/");
  const isPrefixed = tail.length > 0 && head in PREFIXES;
  const word = said ?? (isPrefixed ? head : BARE.find(([form]) => form.test(name))?.[1]);
  const prefix = word === undefined ? undefined : PREFIXES[word];
  if (prefix === undefined) {
    const what = tail.length > 0 ? `'${head}'` : "a name without a prefix";
    return `${what} names no family that there is; ${OTHERWISE}`;
  }
  const rest = isPrefixed ? tail.join("/") : name;
  if (word === "vertex_ai" && !/^(gemini\/)?gemini/.test(rest)) return "the family vertex serves Gemini's models alone";
  const upstream = upstreamOf(prefix, params);
  if (typeof upstream === "string") return upstream;
  const model = prefix.strip === undefined ? rest : rest.replace(prefix.strip, "");
  return { upstream, model, ...(prefix.kind === undefined ? {} : { kind: prefix.kind }) };
}

function upstreamOf(prefix: Prefix, params: Params): DraftUpstream | string {
  const address = textOf(params["api_base"]) ?? textOf(params["base_url"]);
  const family =
    prefix.host !== undefined && prefix.family === "openai" && isElsewhere(address, prefix.host)
      ? "openai-compatible"
      : prefix.family;
  const base = baseOf(family, prefix, params, address);
  if (base === undefined && prefix.needsAddress !== undefined)
    return `it has no api_base, which names ${prefix.needsAddress}`;
  if (base === undefined && family === "vertex") return "it names no vertex_project and vertex_location";
  if (base === undefined && family === "bedrock") return "it names no aws_region_name";
  const key = keyOf(family, params);
  return { family, ...(key === undefined ? {} : { api_key: key }), ...(base === undefined ? {} : { base_url: base }) };
}

function isElsewhere(address: string | undefined, host: string): boolean {
  return address !== undefined && !(URL.canParse(address) && new URL(address).host === host);
}

function baseOf(family: string, prefix: Prefix, params: Params, address: string | undefined): string | undefined {
  const said = address === undefined ? undefined : withVariables(address).replace(/\/+$/, "");
  if (said === undefined) {
    const region = textOf(params["aws_region_name"]);
    if (family === "bedrock" && region !== undefined)
      return `https://bedrock-runtime.${withVariables(region)}.amazonaws.com`;
    const [project, place] = [textOf(params["vertex_project"]), textOf(params["vertex_location"])].map((text) =>
      text === undefined ? undefined : withVariables(text),
    );
    if (family === "vertex" && project !== undefined && place !== undefined)
      return `https://${place}-aiplatform.googleapis.com/v1/projects/${project}/locations/${place}`;
    return undefined;
  }
  if (prefix.host !== undefined && !isElsewhere(address, prefix.host)) return undefined;
  if (family === "azure" && URL.canParse(said)) return new URL(said).origin;
  if (family === "ollama" && !said.endsWith("/v1") && !said.includes("$")) return `${said}/v1`;
  return said.replace(/\/(?:v1\/messages|chat\/completions)$/, "");
}

function keyOf(family: string, params: Params): string | undefined {
  const [id, secret, token] = ["aws_access_key_id", "aws_secret_access_key", "aws_session_token"].map((name) =>
    secretOf(params[name], name.toUpperCase()),
  );
  if (family === "bedrock" && id !== undefined && secret !== undefined)
    return [id, secret, token].filter((part) => part !== undefined).join(":");
  if (family === "vertex") return secretOf(params["vertex_credentials"], "GOOGLE_APPLICATION_CREDENTIALS");
  // Its identity at Entra is the environment's, as with the SDKs of Microsoft.
  if (family === "azure" && ENTRA_PARAMS.some((name) => textOf(params[name]) !== undefined))
    return secretOf(params["api_key"], "AZURE_API_KEY");
  const variable = `${family.toUpperCase().replaceAll("-", "_")}_API_KEY`;
  return secretOf(params["api_key"], variable) ?? (KEYLESS.has(family) ? undefined : `\${${variable}}`);
}

/** A secret is always taken from the environment: what stood in the file as it is gets a variable. */
function secretOf(value: unknown, variable: string): string | undefined {
  const text = textOf(value);
  if (text === undefined) return undefined;
  const said = withVariables(text);
  return said.includes("${") ? said : `\${${variable}}`;
}

/** True where the file itself holds a secret, which is not carried. */
export function holdsSecret(params: Params): boolean {
  return ["api_key", "aws_access_key_id", "aws_secret_access_key", "aws_session_token"].some((name) => {
    const text = textOf(params[name]);
    return text !== undefined && !text.startsWith("os.environ/");
  });
}

/** `os.environ/NAME` as the settings file writes it. */
function withVariables(text: string): string {
  const name = /^os\.environ\/(\w+)$/.exec(text)?.[1];
  return name === undefined ? text.replaceAll("${", "$${") : `\${${name}}`;
}

/** A scalar of the file; undefined where it is absent, empty or null. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && !["", "~", "null", "None"].includes(value) ? value : undefined;
}

/** The texts of a list, or of one value. */
export function textsOf(value: unknown): readonly string[] {
  return [value].flat().flatMap((one) => textOf(one) ?? []);
}

export function isBlock(value: unknown): value is Params {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
