/** Lists of pages: of the decisions, of docs/, and llms.txt, which tells programs that read where to look. */
import { readdirSync, readFileSync } from "node:fs";

/** Every page that people read, from the root. */
export function pages(): readonly string[] {
  const inDocs = readdirSync("docs", { recursive: true, encoding: "utf8" }).map((name) => `docs/${name}`);
  return [...readdirSync("."), ...inDocs].filter((name) => name.endsWith(".md")).sort();
}

const DECISIONS = "docs/decisions/";

/** The subjects of the records, in the order of the index. Each record names one: `- Subject: money and ledger`. */
const SUBJECTS: readonly string[] = [
  "Money and ledger",
  "Wires and formats",
  "Routing and upstreams",
  "Limits and leases",
  "Nodes and storage",
  "Identity and keys",
  "Records and console",
  "Process, threads and memory",
  "Edges and overload",
  "Build, tests and release",
];

/** The subject that a record names, or undefined. */
export function subjectOf(page: string): string | undefined {
  const named = /^- Subject: (.+)$/m.exec(readFileSync(page, "utf8"))?.[1]?.toLowerCase();
  return SUBJECTS.find((subject) => subject.toLowerCase() === named);
}

/** docs/decisions/README.md. */
export function decisionsIndex(): string {
  const inFolder = pages().filter((page) => page.startsWith(DECISIONS) && page !== `${DECISIONS}README.md`);
  const records = inFolder.filter((page) => /\/\d{4}-/.test(page));
  const sections = SUBJECTS.map((subject) => section(subject, records, subject));
  return `# Decisions

One record for each choice of architecture: its context, the decision, the options rejected and the consequences.
Numbers start at 0400. A record ends with the numbers of the notes that it replaces: git's history has their text
(\`git log -- docs/decisions\`). This list is made by \`npm run docs\`.
${sections.join("")}${section("Notes that no record has replaced", records, undefined)}${others(inFolder)}`;
}

function section(heading: string, records: readonly string[], subject: string | undefined): string {
  const lines = records.filter((page) => subjectOf(page) === subject).map(lineOf);
  return lines.length === 0 ? "" : `\n## ${heading}\n\n${lines.join("\n")}\n`;
}

function lineOf(page: string): string {
  const name = page.slice(DECISIONS.length);
  return `- [${name.slice(0, 4)}](${name}): ${titleOf(page).replace(/^\d{4}[:.]? */, "")}`;
}

/** Pages of the folder that are no records. */
function others(inFolder: readonly string[]): string {
  const lines = inFolder
    .filter((page) => !/\/\d{4}-/.test(page))
    .map((page) => `- [${titleOf(page)}](${page.slice(DECISIONS.length)})`);
  return lines.length === 0 ? "" : `\n## Other pages\n\n${lines.join("\n")}\n`;
}

/** The pages by what their reader wants to do. A page that stands in none is listed under the last title. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  Start: ["quick-start", "clients", "grpc", "comparison"],
  "Run a gateway": [
    "operations",
    "configuration",
    "cli",
    "console",
    "keyless-upstreams",
    "local-servers",
    "postgresql",
    "nodes",
  ],
  "Plan and repair": [
    "reference-architectures",
    "sizing",
    "troubleshooting",
    "secret-rotation",
    "runbook-systemd",
    "runbook-kubernetes",
  ],
  "Call the API": ["http-api", "headers", "errors", "members", "conformance", "model-facts"],
  "Keys, people and security": ["keys", "people", "plans", "sign-in", "security-model", "audit"],
  Money: ["prices", "ledger", "payments", "tokens", "exports"],
  Observe: ["records", "metrics", "traces", "alerts", "performance", "lab-book"],
  Contribute: ["architecture", "tests"],
};
const NO_GROUP = "More";

/** docs/README.md. */
export function docsIndex(): string {
  const grouped = new Set(Object.values(GROUPS).flat());
  const others = ofDocs()
    .map(nameOf)
    .filter((name) => !grouped.has(name));
  const sections = Object.entries({ ...GROUPS, [NO_GROUP]: others }).map(([title, names]) => {
    const lines = names.map((name) => {
      const page = `docs/${name}.md`;
      return `- [${titleOf(page)}](${name}.md): ${firstSentence(page)}`;
    });
    return lines.length === 0 ? "" : `## ${title}\n\n${lines.join("\n")}\n`;
  });
  return `# Documents

${sections.filter((section) => section !== "").join("\n")}
[Decisions](decisions/README.md) has the reasons for the design. \`npm run docs\` makes this list.
`;
}

function ofDocs(): readonly string[] {
  return pages().filter((page) => /^docs\/[a-z-]+\.md$/.test(page));
}

function nameOf(page: string): string {
  return page.slice("docs/".length, -".md".length);
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

- [README](README.md): what it is, how to start it, the first call
- [Schema of the settings file](schemas/tollgate.schema.json): JSON Schema of tollgate.yaml
- [OpenAPI](schemas/openapi.json): every path with its fields and examples
- [Protocol](proto/tollgate/v1/inference_service.proto): requests to models over gRPC

## Documents

${ofDocs().map(line).join("\n")}

## Optional

- [Decisions](docs/decisions/README.md): the reasons for the design
- [Changelog](CHANGELOG.md): what changed
- [Contributing](CONTRIBUTING.md): how to add a provider, a method or a column
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
