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

interface Quoted {
  readonly origin: string;
  readonly secret: string;
  readonly model: string;
  readonly text: string;
}

const SNIPPETS: Readonly<Record<Client, (told: Quoted) => string>> = {
  curl: ({ origin, secret, model, text }) => `curl ${origin}/v1/chat/completions \\
  -H "Authorization: Bearer ${secret}" \\
  -H "Content-Type: application/json" \\
  -d ${shellQuoted(`{"model": ${model}, "messages": [{"role": "user", "content": ${text}}]}`)}`,
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
  python: ({ origin, secret, model, text }) => `from openai import OpenAI

client = OpenAI(base_url="${origin}/v1", api_key="${secret}")
stream = client.chat.completions.create(
    model=${model},
    messages=[{"role": "user", "content": ${text}}],
    stream=True,
)
for chunk in stream:
    print(chunk.choices[0].delta.content or "", end="")`,
  typescript: ({ origin, secret, model, text }) => `import OpenAI from "openai";

const client = new OpenAI({ baseURL: "${origin}/v1", apiKey: "${secret}" });
const stream = await client.chat.completions.create({
  model: ${model},
  messages: [{ role: "user", content: ${text} }],
  stream: true,
});
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta?.content ?? "");`,
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
  go: ({ origin, secret, model, text }) => `package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
)

func main() {
	body := strings.NewReader(${goQuoted(`{"model": ${model}, "messages": [{"role": "user", "content": ${text}}]}`)})
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
}`,
  grpc: ({
    origin,
    secret,
    model,
    text,
  }) => `# Put the port of gRPC in place of GRPC_PORT: TOLLGATE_GRPC sets it, 8081 by default.
grpcurl -plaintext -H "authorization: Bearer ${secret}" -d ${shellQuoted(
    `{"generation": {"model": ${model}, "prompt": {"messages": [{"role": "ROLE_USER", "parts": [{"text": {"text": ${text}}}]}]}}}`,
  )} \\
  ${new URL(origin).hostname}:GRPC_PORT tollgate.v1.InferenceService/StreamGenerate`,
};

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
