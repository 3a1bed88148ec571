/** What servers of one's own report about themselves, and at which addresses. */
import { z } from "zod";
import type { ReportSource } from "./family.js";

const MODELS_MAX = 1_000;
const count = z.number().int().min(0);
const tokens = z.number().int().min(1).optional().catch(undefined);

const props = z.object({
  default_generation_settings: z.object({ n_ctx: tokens }).optional(),
  total_slots: z.number().int().min(1).optional().catch(undefined),
  modalities: z.object({ vision: z.boolean() }).optional().catch(undefined),
  chat_template_caps: z.object({ supports_tools: z.boolean() }).optional().catch(undefined),
});

/** llama.cpp (tools/server/README.md). A template without tools gets a general one, so `false` says nothing. */
const llamaProps: ReportSource = {
  path: "/props",
  under: "server",
  read: (body) => {
    const { default_generation_settings: settings, total_slots: slots, ...rest } = parsed(props, body);
    const tools = rest.chat_template_caps?.supports_tools === true ? true : undefined;
    return { slots, contextTokens: settings?.n_ctx, images: rest.modalities?.vision, tools };
  },
};

const slots = z.array(z.object({ is_processing: z.boolean() }));

/** llama.cpp, where it was not started with `--no-slots`. */
const llamaSlots: ReportSource = {
  path: "/slots",
  under: "server",
  read: (body) => ({ running: parsed(slots, body).filter(({ is_processing: isBusy }) => isBusy).length }),
};

const models = z.object({ data: z.array(z.object({ id: z.string(), max_model_len: tokens })) });

/** vLLM and SGLang. */
const modelLengths: ReportSource = {
  path: "/models",
  under: "base",
  read: (body) => ({
    contexts: contextsOf(parsed(models, body).data.map(({ id, max_model_len: length }) => [id, length])),
  }),
};

/** vLLM (docs.vllm.ai, usage/metrics), and SGLang where it was started with `--enable-metrics`. */
const engineMetrics: ReportSource = {
  path: "/metrics",
  under: "server",
  read: (body) => {
    const text = body.toString("utf8");
    const running = gauge(text, /^(?:vllm:num_requests_running|sglang:num_running_reqs)(?:\{.*\})? +(\S+)$/gm);
    const waiting = gauge(text, /^(?:vllm:num_requests_waiting|sglang:num_queue_reqs)(?:\{.*\})? +(\S+)$/gm);
    return { running, waiting };
  },
};

const loaded = z.object({ models: z.array(z.object({ name: z.string(), context_length: tokens })) });

/** Ollama. It reports the context of the models in its memory alone. */
const ollamaModels: ReportSource = {
  path: "/api/ps",
  under: "server",
  read: (body) => {
    const all = parsed(loaded, body).models.slice(0, MODELS_MAX);
    return {
      loadedModels: all.map(({ name }) => name),
      contexts: contextsOf(all.map(({ name, context_length: length }) => [name, length])),
    };
  },
};

export const LLAMACPP_REPORTS: readonly ReportSource[] = [llamaProps, llamaSlots];
export const VLLM_REPORTS: readonly ReportSource[] = [modelLengths, engineMetrics];
export const OLLAMA_REPORTS: readonly ReportSource[] = [ollamaModels];

function parsed<Schema extends z.ZodType>(schema: Schema, body: Buffer): z.output<Schema> {
  return schema.parse(JSON.parse(body.toString("utf8")));
}

function contextsOf(lengths: readonly (readonly [string, number | undefined])[]): ReadonlyMap<string, number> {
  const known = lengths
    .slice(0, MODELS_MAX)
    .flatMap(([id, length]) => (length === undefined ? [] : [[id, length] as const]));
  return new Map(known);
}

/** The sum over a server's engines; undefined where none reports it. */
function gauge(text: string, line: RegExp): number | undefined {
  const values = [...text.matchAll(line)].map(([, value]) => count.safeParse(Number(value)).data);
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : known.reduce((sum, value) => sum + value, 0);
}
