/** Servers as operators run them: llama.cpp, vLLM, SGLang and Ollama, with what each reports about itself. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

const CHUNK = { id: "c", object: "chat.completion.chunk", created: 1, model: "m" };
const ANSWER = [
  { ...CHUNK, choices: [{ index: 0, delta: { content: "Hi" }, finish_reason: null }] },
  { ...CHUNK, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
  { ...CHUNK, choices: [], usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 } },
];

/** What the server answers at each path of its own; a path that is not there gets a 404. */
export type Reports = Readonly<Record<string, unknown>>;

export interface OwnServer {
  readonly url: string;
  /** What it reports from now on. */
  reports: Reports;
  /** How often each body of a chat came. */
  readonly bodies: Map<string, number>;
  readonly mostRunning: number;
  close(): Promise<void>;
}

/** Works at `slots` chats at once, `workMs` each; others wait in its own line. */
export async function startOwnServer(
  reports: Reports,
  slots = Number.POSITIVE_INFINITY,
  workMs = 5,
): Promise<OwnServer> {
  const state = { reports, bodies: new Map<string, number>(), mostRunning: 0 };
  const line: (() => void)[] = [];
  let running = 0;
  const work = (response: ServerResponse): void => {
    running += 1;
    state.mostRunning = Math.max(state.mostRunning, running);
    setTimeout(() => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const chunk of ANSWER) response.write(`data: ${JSON.stringify(chunk)}\n\n`);
      response.end("data: [DONE]\n\n");
      running -= 1;
      line.shift()?.();
    }, workMs);
  };
  const chat = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let body = "";
    for await (const piece of request) body += String(piece);
    state.bodies.set(body, (state.bodies.get(body) ?? 0) + 1);
    if (running < slots) work(response);
    else line.push(() => work(response));
  };
  const server = createServer((request, response) => {
    if (request.method === "POST") return void chat(request, response);
    const report = state.reports[request.url ?? ""];
    const text = typeof report === "string" ? report : JSON.stringify(report ?? { error: "not found" });
    response.writeHead(report === undefined ? 404 : 200, { "content-type": "text/plain" }).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return Object.assign(state, { url: `http://127.0.0.1:${port}`, close });
}

/** llama.cpp's `/props` and `/slots`. */
export function llamaReports(slots: number, contextTokens: number, busy = 0): Reports {
  return {
    "/props": {
      default_generation_settings: {
        id: 0,
        n_ctx: contextTokens,
        speculative: false,
        is_processing: false,
        params: {},
      },
      total_slots: slots,
      model_alias: "local",
      model_path: "/models/local.gguf",
      modalities: { vision: false, audio: false },
      chat_template: "{{ messages }}",
      chat_template_caps: { supports_tools: true, supports_parallel_tool_calls: false },
      build_info: "b8681",
    },
    "/slots": Array.from({ length: slots }, (_, id) => ({ id, n_ctx: contextTokens, is_processing: id < busy })),
  };
}

/** vLLM's `/metrics`, with two engines, and its list of models. */
export function vllmReports(running: number, waiting: number, contextTokens: number): Reports {
  return {
    "/metrics": [
      "# HELP vllm:num_requests_running Number of requests in model execution batches.",
      "# TYPE vllm:num_requests_running gauge",
      `vllm:num_requests_running{engine="0",model_name="m"} ${running}.0`,
      'vllm:num_requests_running{engine="1",model_name="m"} 0.0',
      "# TYPE vllm:num_requests_waiting gauge",
      `vllm:num_requests_waiting{engine="0",model_name="m"} ${waiting}.0`,
      'vllm:num_requests_waiting_by_reason{engine="0",model_name="m",reason="capacity"} 7.0',
      "",
    ].join("\n"),
    "/v1/models": {
      object: "list",
      data: [{ id: "m", object: "model", owned_by: "vllm", max_model_len: contextTokens }],
    },
  };
}

/** SGLang's `/metrics`. */
export const SGLANG_REPORTS: Reports = {
  "/metrics": [
    "# TYPE sglang:num_running_reqs gauge",
    'sglang:num_running_reqs{engine_type="unified",model_name="m",tp_rank="0"} 5.0',
    'sglang:num_queue_reqs{engine_type="unified",model_name="m",tp_rank="0"} 2.0',
    "",
  ].join("\n"),
  "/v1/models": { object: "list", data: [{ id: "m", object: "model", owned_by: "sglang", max_model_len: 40_960 }] },
};

/** Ollama's `/api/ps`. */
export const OLLAMA_REPORTS: Reports = {
  "/api/ps": {
    models: [
      {
        name: "qwen3:latest",
        model: "qwen3:latest",
        size: 6_591_830_464,
        digest: "500a1f067a9f",
        details: { parent_model: "", format: "gguf", family: "qwen3", parameter_size: "8.2B" },
        expires_at: "2026-12-01T12:00:00.000000+01:00",
        size_vram: 5_333_539_264,
        context_length: 4_096,
      },
    ],
  },
};
