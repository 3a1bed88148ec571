/** A first request in the clients that people use, with the reader's own address, key and model in it. */
export const CLIENTS = [
  { id: "curl", name: "curl" },
  { id: "claudeCode", name: "Claude Code" },
  { id: "codex", name: "Codex" },
  { id: "python", name: "Python, openai" },
  { id: "typescript", name: "TypeScript, openai" },
  { id: "anthropic", name: "Python, anthropic" },
  { id: "anthropicTs", name: "TypeScript, @anthropic-ai/sdk" },
  { id: "gemini", name: "Python, google-genai" },
  { id: "geminiTs", name: "TypeScript, @google/genai" },
  { id: "go", name: "Go, net/http" },
  { id: "grpc", name: "gRPC, grpcurl" },
] as const;
/** The clients whose code can hold every turn and parameter of a request. */
export const CLIENTS_OF_REQUESTS: readonly Client[] = ["curl", "python", "typescript", "go", "grpc"];
export type Client = (typeof CLIENTS)[number]["id"];

export interface Told {
  /** Such as https://models.example.com. */
  readonly origin: string;
  readonly secret: string;
  readonly model: string;
  /** What is asked. Default: a greeting. */
  readonly text?: string;
}

export function snippet(client: Client, { origin, secret, model, text = "Say hello." }: Told): string {
  const quoted = { model: JSON.stringify(model), text: JSON.stringify(text) };
  return SNIPPETS[client]({ origin, secret, ...quoted });
}

/** A request of chat completions with all that is in it, in one of CLIENTS_OF_REQUESTS. */
export function requestSnippet(
  client: Client,
  origin: string,
  secret: string,
  request: Readonly<Record<string, unknown>>,
): string {
  const json = JSON.stringify(request, null, 2);
  switch (client) {
    case "python":
      return pythonCode(
        origin,
        secret,
        Object.entries(request).map(([name, value]) => `${name}=${python(value, 1)}`),
      );
    case "typescript":
      return typescriptCode(origin, secret, json.split("\n").slice(1, -1).join("\n"));
    case "go":
      return goCode(origin, secret, json);
    case "grpc":
      return grpcCode(
        origin,
        secret,
        `'{"generation": {"source": {"wire": "openai-chat", "body": "'"$(
  printf '%s' ${shellQuoted(json)} | base64 | tr -d '\\n'
)"'"}}}'`,
      );
    default:
      return curlCode(origin, secret, json);
  }
}

interface Quoted {
  readonly origin: string;
  readonly secret: string;
  readonly model: string;
  readonly text: string;
}

const SNIPPETS: Readonly<Record<Client, (told: Quoted) => string>> = {
  curl: ({ origin, secret, model, text }) => curlCode(origin, secret, bodyOf(model, text)),
  claudeCode: ({ origin, secret, model, text }) => `export ANTHROPIC_BASE_URL=${origin}
export ANTHROPIC_API_KEY=${secret}
# The model for requests in the background; it may be a cheaper one.
export ANTHROPIC_DEFAULT_HAIKU_MODEL=${model}
claude --model ${model} -p ${shellQuoted(JSON.parse(text) as string)}`,
  codex: ({ origin, secret, model, text }) => `export TOLLGATE_KEY=${secret}
codex exec --skip-git-repo-check -m ${model} \\
  -c model_provider='"tollgate"' \\
  -c features.api_key_model_discovery=true \\
  -c model_providers.tollgate='${codexProvider(origin)}' \\
  ${shellQuoted(JSON.parse(text) as string)}`,
  python: ({ origin, secret, model, text }) =>
    pythonCode(origin, secret, [`model=${model}`, `messages=[{"role": "user", "content": ${text}}]`]),
  typescript: ({ origin, secret, model, text }) =>
    typescriptCode(origin, secret, `  model: ${model},\n  messages: [{ role: "user", content: ${text} }]`),
  anthropic: ({ origin, secret, model, text }) => `import anthropic

client = anthropic.Anthropic(base_url="${origin}", api_key="${secret}")
with client.messages.stream(
    model=${model},
    max_tokens=1024,
    messages=[{"role": "user", "content": ${text}}],
) as stream:
    for text in stream.text_stream:
        print(text, end="")`,
  anthropicTs: ({ origin, secret, model, text }) => `import Anthropic from "@anthropic-ai/sdk";

const client = new Anthropic({ baseURL: "${origin}", apiKey: "${secret}" });
const stream = client.messages.stream({
  model: ${model},
  max_tokens: 1024,
  messages: [{ role: "user", content: ${text} }],
});
stream.on("text", (text) => process.stdout.write(text));
await stream.finalMessage();`,
  gemini: ({ origin, secret, model, text }) => `from google import genai
from google.genai import types

client = genai.Client(api_key="${secret}", http_options=types.HttpOptions(base_url="${origin}"))
for chunk in client.models.generate_content_stream(model=${model}, contents=${text}):
    print(chunk.text or "", end="")`,
  geminiTs: ({ origin, secret, model, text }) => `import { GoogleGenAI } from "@google/genai";

const client = new GoogleGenAI({ apiKey: "${secret}", httpOptions: { baseUrl: "${origin}" } });
const stream = await client.models.generateContentStream({ model: ${model}, contents: ${text} });
for await (const chunk of stream) process.stdout.write(chunk.text ?? "");`,
  go: ({ origin, secret, model, text }) => goCode(origin, secret, bodyOf(model, text)),
  grpc: ({ origin, secret, model, text }) =>
    grpcCode(
      origin,
      secret,
      shellQuoted(
        `{"generation": {"model": ${model}, "prompt": {"messages": [{"role": "ROLE_USER", "parts": [{"text": {"text": ${text}}}]}]}}}`,
      ),
    ),
};

/** The body of a request with one message. Both texts are JSON. */
function bodyOf(model: string, text: string): string {
  return `{"model": ${model}, "messages": [{"role": "user", "content": ${text}}]}`;
}

function curlCode(origin: string, secret: string, body: string): string {
  return `curl ${origin}/v1/chat/completions \\
  -H "Authorization: Bearer ${secret}" \\
  -H "Content-Type: application/json" \\
  -d ${shellQuoted(body)}`;
}

function pythonCode(origin: string, secret: string, members: readonly string[]): string {
  return `from openai import OpenAI

client = OpenAI(base_url="${origin}/v1", api_key="${secret}")
stream = client.chat.completions.create(
${[...members, "stream=True"].map((member) => `    ${member},`).join("\n")}
)
for chunk in stream:
    print(chunk.choices[0].delta.content or "", end="")`;
}

function typescriptCode(origin: string, secret: string, members: string): string {
  return `import OpenAI from "openai";

const client = new OpenAI({ baseURL: "${origin}/v1", apiKey: "${secret}" });
const stream = await client.chat.completions.create({
${members},
  stream: true,
});
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta?.content ?? "");`;
}

function goCode(origin: string, secret: string, body: string): string {
  return `package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
)

func main() {
	body := strings.NewReader(${goQuoted(body)})
	request, _ := http.NewRequest("POST", "${origin}/v1/chat/completions", body)
	request.Header.Set("Authorization", "Bearer ${secret}")
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	fmt.Println(string(text))
}`;
}

/** The message is a word of the shell, quoted. */
function grpcCode(origin: string, secret: string, message: string): string {
  return `# Put the port of gRPC in place of GRPC_PORT: TOLLGATE_GRPC sets it, 8081 by default.
grpcurl -plaintext -H "authorization: Bearer ${secret}" -d ${message} \\
  ${new URL(origin).hostname}:GRPC_PORT tollgate.v1.InferenceService/StreamGenerate`;
}

/** A JSON value as Python writes it, over several lines where it has members. */
function python(value: unknown, depth: number): string {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value !== "object") return JSON.stringify(value);
  const isList = Array.isArray(value);
  const members = isList
    ? value.map((one) => python(one, depth + 1))
    : Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${python(one, depth + 1)}`);
  const [open, close] = isList ? ["[", "]"] : ["{", "}"];
  if (members.length === 0) return open + close;
  const indent = "    ".repeat(depth + 1);
  return `${open}\n${members.map((member) => `${indent}${member},`).join("\n")}\n${"    ".repeat(depth)}${close}`;
}

/** As Codex reads it on its command line, which changes no file of the reader's. */
function codexProvider(origin: string): string {
  const addresses = `base_url="${origin}/v1",model_catalog_url="${origin}/v1/models"`;
  return `{name="Tollgate",${addresses},env_key="TOLLGATE_KEY",wire_api="responses"}`;
}

function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function goQuoted(text: string): string {
  return text.includes("`") ? JSON.stringify(text) : `\`${text}\``;
}
