/**
 * A real HTTP server that ranks documents and judges content as vendors do, apart from the program's own code: Cohere
 * at `/v2/rerank`, Voyage at `/voyage/rerank`, llama.cpp at `/llama/rerank`, SGLang at `/sglang/rerank`, Jina and vLLM
 * at `/v1/rerank`, OpenAI's moderations at `/v1/moderations`. A document's score is the share of it that is the letter
 * x.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export interface RankRequest {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface RankScript {
  readonly status?: number;
  /** The raw body, in place of a ranking. */
  readonly body?: string;
  /** Tell no usage. */
  readonly silent?: boolean;
  /** Wait before the answer. */
  readonly delayMs?: number;
}

export interface FakeRerank {
  /** The origin. */
  readonly url: string;
  readonly requests: RankRequest[];
  override: RankScript;
  close(): Promise<void>;
}

/** Tokens that the fake counts for each document. */
export const DOCUMENT_TOKENS = 10;

export async function startFakeRerank(): Promise<FakeRerank> {
  const server: Server = createServer((request, response) => {
    serve(request, response, fake).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const fake: FakeRerank = {
    url: `http://127.0.0.1:${port}`,
    requests: [],
    override: {},
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return fake;
}

async function serve(request: IncomingMessage, response: ServerResponse, fake: FakeRerank): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const path = request.url ?? "";
  const body = JSON.parse(Buffer.concat(chunks).toString()) as RankRequest["body"];
  fake.requests.push({ path, body });
  const { status = 200, body: raw, silent = false, delayMs = 0 } = fake.override;
  await sleep(delayMs);
  const answer = path.endsWith("/moderations") ? judged(body) : ranked(path, body, silent);
  response.writeHead(status, { "content-type": "application/json" }).end(raw ?? JSON.stringify(answer));
}

interface Ranked {
  readonly index: number;
  readonly score: number;
  readonly document: unknown;
}

function ranked(path: string, body: RankRequest["body"], silent: boolean): unknown {
  const documents = body["documents"] as readonly unknown[];
  const limit = path.startsWith("/voyage") ? body["top_k"] : body["top_n"];
  const all = documents.map((document, index): Ranked => ({ index, score: shareOf(document), document }));
  const most = typeof limit === "number" ? limit : documents.length;
  const best = all.toSorted((a, b) => b.score - a.score).slice(0, most);
  const tokens = documents.length * DOCUMENT_TOKENS;
  switch (path) {
    case "/v2/rerank": {
      if (documents.some((one) => typeof one !== "string") || "return_documents" in body) return { message: "invalid" };
      const results = best.map(({ index, score }) => ({ index, relevance_score: score }));
      const units = Math.ceil(documents.length / 100);
      const meta = { api_version: { version: "2" }, ...(silent ? {} : { billed_units: { search_units: units } }) };
      return { id: "07734bd2", results, meta };
    }
    case "/voyage/rerank": {
      const data = best.map(({ index, score, document }) => {
        return { index, relevance_score: score, ...(body["return_documents"] === true ? { document } : {}) };
      });
      return { object: "list", data, model: body["model"], ...(silent ? {} : { usage: { total_tokens: tokens } }) };
    }
    case "/llama/rerank": {
      // It heeds no bound, and tells them as they came.
      const results = all.map(({ index, score }) => ({ index, relevance_score: score }));
      return { model: "file.gguf", object: "list", ...(silent ? {} : { usage: { prompt_tokens: tokens } }), results };
    }
    case "/sglang/rerank":
      return best.map(({ index, score, document }) => ({ score, document, index }));
    default: {
      const results = best.map(({ index, score, document }): object => {
        const text = typeof document === "string" ? document : (document as { readonly text: string }).text;
        const ranking = { index, relevance_score: score };
        return body["return_documents"] === true ? Object.assign(ranking, { document: { text } }) : ranking;
      });
      const usage = silent ? {} : { usage: { total_tokens: tokens, prompt_tokens: tokens } };
      return { id: "rerank-1", model: body["model"], ...usage, results };
    }
  }
}

function shareOf(document: unknown): number {
  const text = typeof document === "string" ? document : JSON.stringify(document);
  return text.length === 0 ? 0 : text.split("x").length / (text.length + 1);
}

function judged({ input, model }: RankRequest["body"]): unknown {
  const isList = Array.isArray(input) && typeof input[0] === "string";
  const inputs: readonly unknown[] = isList ? (input as unknown[]) : [input];
  const results = inputs.map((one) => {
    const flagged = JSON.stringify(one).includes("harm");
    return { flagged, categories: { violence: flagged }, category_scores: { violence: flagged ? 0.9 : 0.1 } };
  });
  return { id: "modr-1", model, results };
}
