/** Lists of pages: the index of the decisions, and llms.txt, which tells readers that are programs where to look. */
import { readdirSync, readFileSync } from "node:fs";

/** Every page that people read, from the root. */
export function pages(): readonly string[] {
  const inDocs = readdirSync("docs", { recursive: true, encoding: "utf8" }).map((name) => `docs/${name}`);
  return [...readdirSync("."), ...inDocs].filter((name) => name.endsWith(".md")).sort();
}

const DECISIONS = "docs/decisions/";

/** docs/decisions/README.md. */
export function decisionsIndex(): string {
  const notes = pages().filter((page) => /^docs\/decisions\/\d{4}-/.test(page));
  const lines = notes.map((page) => {
    const name = page.slice(DECISIONS.length);
    return `- [${name.slice(0, 4)}](${name}): ${titleOf(page).replace(/^\d{4}[:.]? */, "")}`;
  });
  return `# Decisions

Why it is so: one note for each choice that a reader would ask about. What a later note changed, the earlier one says.
Numbers that are missing were never given. This list is made by \`npm run docs\`.

${lines.join("\n")}
`;
}

/** docs/README.md. */
export function docsIndex(): string {
  const lines = ofDocs().map((page) => `- [${titleOf(page)}](${page.slice("docs/".length)}): ${firstSentence(page)}`);
  return `# Documents

${lines.join("\n")}
- [Decisions](decisions/README.md): why it is so.

This list is made by \`npm run docs\`.
`;
}

function ofDocs(): readonly string[] {
  return pages().filter((page) => /^docs\/[a-z-]+\.md$/.test(page));
}

/** llms.txt, by the convention of llmstxt.org. */
export function llmsText(): string {
  const line = (page: string): string => `- [${titleOf(page)}](${page}): ${firstSentence(page)}`;
  return `# Tollgate

> ${firstSentence("README.md")} Its HTTP address is a base URL for OpenAI's
> (with /v1), Anthropic's and Gemini's clients; all logic is a typed gRPC service, tollgate.v1.

A running gateway serves its own description: \`GET /\` (what it is), \`GET /openapi.json\` (OpenAPI 3.1),
\`GET /v1/models\` (the models that a key may use, with limits and prices), and gRPC reflection on its admin address.

## Start

- [README](README.md): start it, use it, operate it
- [Schema of the settings file](schemas/tollgate.schema.json): JSON Schema of tollgate.yaml
- [OpenAPI](schemas/openapi.json): every path with its fields and examples
- [Protocol](proto/tollgate/v1/inference_service.proto): requests to models over gRPC

## Documents

${ofDocs().map(line).join("\n")}

## Optional

- [Decisions](docs/decisions/README.md): why it is so
- [Changelog](CHANGELOG.md): what changed
- [Contributing](CONTRIBUTING.md): how to change it
`;
}

function titleOf(page: string): string {
  return /^# (.+)$/m.exec(readFileSync(page, "utf8"))?.[1] ?? page;
}

/** Of the first paragraph, without marks. */
function firstSentence(page: string): string {
  const text = readFileSync(page, "utf8").replace(/^# .+\n+/, "");
  const paragraph = text.split(/\n\n/).find((one) => /^[A-Za-z`]/.test(one)) ?? "";
  const plain = paragraph.replaceAll("\n", " ").replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1");
  return /^.*?[.:](?= |$)/.exec(plain)?.[0].replace(/:$/, ".") ?? plain;
}
