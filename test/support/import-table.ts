/** Which folder may import which: the table of the design, as data, and what it says of a tree of files. */
import type { SourceFile } from "./source-file.js";

/** Everyone may import these. */
const EVERYWHERE = ["src/api/", "src/base/", "gen/"];

/**
 * What each part may import besides its own folder and `EVERYWHERE`. An entry ends in `/` for a folder, else it is a
 * file; `!` takes one out again. A new entry says its reason here, or names the decision record that does.
 */
export const IMPORTS: Readonly<Record<string, readonly string[]>> = {
  "src/main.ts": ["src/"],
  // It keeps processes that serve, and loads nothing of what they serve with.
  "src/serve/workers.ts": ["src/config/", "src/observe/log.ts"],
  "src/serve/": ["src/", "!src/main.ts", "!src/cli/", "!src/serve/workers.ts"],
  // Apart from `serve`, `config check` and `store`, which moves the database itself, each command is a gRPC client.
  "src/cli/": [
    "src/rpc/transport/remote-channel.ts",
    "src/config/",
    "src/main.ts",
    "src/serve/workers.ts",
    "src/serve/stop-signal.ts",
    "src/serve/settings-check.ts",
    "src/serve/sold-models.ts",
    // The process that owns the database of workers loads no more of the gateway.
    "src/serve/owner.ts",
    "src/import/",
    // The forms of objects; nothing that runs.
    "src/settings/object.ts",
    "src/settings/spec.ts",
    "src/audit/",
    "src/store/archive/",
    "src/store/copy.ts",
    "src/store/sqlite/backup.ts",
    "src/base/typed-number.ts",
    // A snapshot of prices is made of public lists, without a gateway.
    "src/price-lists/",
    "src/pricing/known-models.ts",
  ],
  // Files of other programs in, a settings file out: of ours it needs to know what a wildcard and a parameter is.
  "src/import/": ["src/config/wildcards.ts", "src/config/parameter-schema.ts"],
  // Forms only: what is known of a model, and the words for its parameters and its cache.
  "src/config/": [
    "src/wire/wire.ts",
    "src/wire/request/parameters.ts",
    "src/wire/request/prompt-cache.ts",
    "src/pricing/token-prices.ts",
  ],
  // The one writer of events is the wires'.
  "src/http/": ["src/formats/", "src/observe/", "src/wire/events/writer.ts"],
  "src/formats/": ["src/wire/"],
  // The walk of one call, from its credential to its end.
  "src/rpc/call/": [
    "src/alerts/",
    "src/audit/",
    "src/gateway/",
    "src/identity/",
    "src/keys/",
    "src/ledger/",
    "src/limits/",
    "src/observe/",
    "src/payments/",
    "src/plans/",
    "src/records/",
    "src/routing/",
    // The forms of its rows; no driver.
    "src/store/store.ts",
    // A caller that changed on another node begins anew.
    "src/coordination/coordination.ts",
  ],
  // One file for each service, and what their methods share.
  "src/rpc/methods/": [
    "src/rpc/call/",
    "src/alerts/",
    "src/audit/",
    "src/gateway/",
    "src/identity/",
    "src/keys/",
    "src/ledger/",
    "src/payments/",
    "src/plans/",
    "src/records/",
    // The forms of its rows and pages; no driver.
    ...["store", "page", "people-rows", "passkey-scripts", "card-rows", "card-scripts", "payment-scripts"].map(
      (name) => `src/store/${name}.ts`,
    ),
    // What was made over the API, in the form of a settings file: docs/decisions/0428-settings.md.
    "src/config/export.ts",
  ],
  // How bytes become calls: the gRPC server, tunnels, and the channels of front ends.
  "src/rpc/transport/": ["src/rpc/call/", "src/keys/", "src/observe/"],
  "src/gateway/": [
    // Where it writes what it learns of a request.
    "src/records/request-record.ts",
    "src/keys/",
    "src/limits/",
    "src/ledger/",
    // What a request may cost has one door: docs/decisions/0401-holds-and-estimates.md.
    "src/pricing/hold-plan.ts",
    "src/pricing/request-tokens.ts",
    "src/pricing/text-pieces.ts",
    "src/pricing/tokens.ts",
    "src/pricing/price.ts",
    "src/pricing/cache-saved.ts",
    "src/pricing/rates.ts",
    "src/routing/",
    "src/families/family.ts",
    "src/observe/",
    "src/wire/wire.ts",
    // What the typed form brings along is judged as what a client's own body holds, and its question for vectors has
    // the same facts: docs/decisions/0408-wires-share-one-layout.md.
    "src/wire/request/hosted-tools.ts",
    "src/wire/request/left-out-tools.ts",
    "src/wire/request/picture.ts",
    "src/wire/request/request-size.ts",
    "src/wire/request/steering.ts",
    "src/wire/request/changed-facts.ts",
    "src/wire/request/parameters.ts",
    "src/wire/json/text.ts",
    "src/wire/json/value.ts",
    "src/wire/request/held-objects.ts",
    "src/wire/request/read-only.ts",
  ],
  // Objects of the database have the form of a settings file's blocks: docs/decisions/0455-settings-objects.md.
  "src/settings/": [
    "src/config/",
    "src/audit/",
    "src/alerts/seal.ts",
    "src/store/people-store.ts",
    "src/store/settings-scripts.ts",
  ],
  // Published prices that are refreshed: docs/decisions/0479-price-lists.md.
  "src/price-lists/": [
    "src/audit/",
    "src/config/settings.ts",
    "src/pricing/",
    "src/store/people-store.ts",
    "src/store/price-list-scripts.ts",
  ],
  // What a plan says, as settings have it.
  "src/plans/": ["src/config/settings.ts"],
  // The thread does what the steps of a request do with its body, away from the event loop.
  "src/reading/": [
    "src/wire/",
    "src/families/",
    "src/routing/upstream-request.ts",
    "src/routing/permits.ts",
    "src/gateway/typed-embedding.ts",
    "src/gateway/typed-request.ts",
    "src/pricing/request-text.ts",
  ],
  // A database and a thread of its own beside the ledger's, by the same ways to SQLite and PostgreSQL.
  "src/records/": [
    // A request brings its trace.
    "src/observe/tracing.ts",
    // Content is sealed as other secrets are: docs/decisions/0436-audit-log-and-content.md.
    "src/alerts/seal.ts",
    "src/store/store.ts",
    "src/store/sqlite/binding.ts",
    "src/store/sqlite/side-file.ts",
    "src/store/postgres/connection.ts",
    "src/store/postgres/sql.ts",
  ],
  // Who changes something, and what is kept of it: plain forms, which go with each change.
  "src/audit/": [],
  "src/keys/": ["src/audit/", "src/store/store.ts", "src/coordination/coordination.ts"],
  // People become callers as keys do.
  "src/identity/": [
    "src/keys/",
    "src/audit/",
    "src/store/people-rows.ts",
    "src/store/link-givers.ts",
    "src/store/people-store.ts",
    "src/store/member-scripts.ts",
    "src/store/oidc-scripts.ts",
    "src/store/passkey-scripts.ts",
    "src/coordination/coordination.ts",
    // Issuers are as the settings name them: docs/decisions/0432-sign-in.md.
    "src/config/settings.ts",
  ],
  // Codes are guessed and made as links are, and become money as credits do: decision 0406.
  "src/payments/": [
    "src/audit/",
    "src/coordination/coordination.ts",
    "src/identity/guesses.ts",
    "src/identity/tokens.ts",
    "src/identity/totp.ts",
    "src/ledger/corrections.ts",
    // Payments by card are as the settings say, and booked as corrections are: decision 0406.
    "src/config/settings.ts",
    "src/store/card-rows.ts",
    "src/store/card-scripts.ts",
    "src/store/payment-scripts.ts",
    "src/store/people-store.ts",
  ],
  // Quotas are counted in the database: docs/decisions/0481-quotas.md.
  "src/limits/": ["src/coordination/coordination.ts", "src/store/quota-scripts.ts"],
  "src/ledger/": ["src/audit/", "src/store/store.ts"],
  // The forms of its rows and steps; no driver.
  // Whose skew is worth an alert is the clock's to say: docs/decisions/0427-clocks.md.
  "src/alerts/": [
    "src/clock/",
    "src/audit/",
    "src/store/store.ts",
    "src/store/page.ts",
    "src/observe/",
    "src/keys/glob.ts",
  ],
  "src/models/": ["src/wire/wire.ts"],
  // What is asked decides what it may cost; forms only.
  "src/pricing/": ["src/models/", "src/wire/wire.ts"],
  "src/routing/": [
    "src/families/family.ts",
    "src/upstream/upstream.ts",
    "src/wire/wire.ts",
    // What a refusal is about, by which its target's health is judged.
    "src/wire/error/echo.ts",
    "src/wire/error/upstream-refusal.ts",
    "src/wire/error/refusals.ts",
    // What may leave, and at which price: docs/decisions/0412-one-gate-for-members.md.
    "src/wire/request/member-gate.ts",
    "src/wire/request/held-objects.ts",
    // Which names of what was left out anybody misses: docs/decisions/0410-what-is-left-out-or-refused.md.
    "src/wire/request/dropped-parameters.ts",
    // Whose cache of an upstream is read: docs/decisions/0418-tenants-at-shared-upstreams.md.
    "src/wire/request/prompt-cache.ts",
    // Which conversation a request belongs to: docs/decisions/0467-session-affinity.md.
    "src/wire/request/opening.ts",
    "src/wire/request/auto-marks.ts",
    "src/wire/request/changed-facts.ts",
    "src/wire/request/parameters.ts",
    // Which name an answer tells: docs/decisions/0413-answers-in-order.md.
    "src/wire/answer/told-model.ts",
    "src/wire/json/",
    "src/pricing/rates.ts",
    // Limits of targets are those of keys: docs/decisions/0473-limits-of-targets.md.
    "src/coordination/coordination.ts",
    // Which list a published price is of.
    "src/pricing/price-list.ts",
    // Forms only: what the settings say, and who asks for the list of models.
    "src/config/settings.ts",
    "src/config/wildcards.ts",
    "src/keys/caller.ts",
  ],
  "src/wire/": [],
  "src/families/": ["src/wire/", "src/upstream/"],
  "src/upstream/": ["src/observe/"],
  // The pure state machine and its forms; never the writer.
  "src/store/": [
    "src/audit/",
    ...["book", "fallback-hold", "hash-chain", "operation", "recovery", "rows", "state", "transfer", "usage"].map(
      (name) => `src/ledger/${name}.ts`,
    ),
  ],
  "src/clock/": ["src/observe/log.ts"],
  "src/coordination/": [],
  // Questions and answers between processes of one machine: docs/decisions/0425-workers-and-front-ends.md.
  "src/owner/": [],
  "src/observe/": [],
  "src/api/": [],
  // Of no part: it knows nothing of the others, nor of the protocol.
  "src/base/": ["!src/api/"],
  "src/build/": [],
  // A client of the API alone: docs/decisions/0439-console.md. What it shares are numbers that people type, CSV, the
  // words of quantities, and what an editor may propose for a settings file.
  "console/": [
    "src/base/typed-number.ts",
    "src/base/csv.ts",
    "src/base/money.ts",
    "src/base/time-zone.ts",
    "src/api/meters.ts",
    "src/keys/glob.ts",
    "schemas/tollgate.schema.json",
  ],
};

/** Where a process or a thread begins, and what `npm run gen` compiles. */
export const ENTRIES = [
  "src/main.ts",
  "src/cli/main.ts",
  "src/store/sqlite/worker.ts",
  "src/reading/reading-worker.ts",
  "src/records/record-worker.ts",
  "src/serve/settings-worker.ts",
  "src/build/prepare.mjs",
  "src/build/bundle.mjs",
  "console/main.tsx",
  "console/build.mjs",
  "src/wire/json/assembly/long-string.ts",
];

/** The row of the table that a file stands in. */
export function partOf(path: string): string | undefined {
  return Object.keys(IMPORTS).find((part) => covers(part, path));
}

/** Each import that the table does not allow, and each file that stands in no row. */
export function forbiddenImports(file: SourceFile): string[] {
  const part = partOf(file.path);
  if (part === undefined) return [`${file.path} stands in no folder of the import table`];
  // The console is no part of the program.
  const shared = part === "console/" ? ["gen/console/"] : EVERYWHERE;
  const rules = [part, ...shared, ...(IMPORTS[part] ?? [])];
  return file.imports
    .filter((target) => !isAllowed(rules, target))
    .map((target) => `${file.path} may not import ${target}`);
}

/** A family or a wire stands alone: none imports another. */
export function importsAmong(members: readonly string[], files: readonly SourceFile[]): string[] {
  return files.flatMap((file) => {
    const own = members.find((member) => covers(member, file.path));
    if (own === undefined) return [];
    return file.imports
      .filter((target) => members.some((member) => member !== own && covers(member, target)))
      .map((target) => `${file.path} may not import ${target}`);
  });
}

/** The families: what the index of the families imports, each a file or a folder. */
export function familiesOf(files: readonly SourceFile[]): string[] {
  const index = files.find((file) => file.path === "src/families/index.ts");
  return (index?.imports ?? [])
    .filter((path) => path.startsWith("src/families/") && path !== "src/families/family.ts")
    .map((path) => path.replace(/^(src\/families\/[^/]+\/).*$/, "$1"));
}

/** The wires: folders with an index. What else is in the folder of wires, they share. */
export function wiresOf(files: readonly SourceFile[]): string[] {
  return files
    .map((file) => /^(src\/wire\/[^/]+\/)index\.ts$/.exec(file.path)?.[1])
    .filter((folder) => folder !== undefined);
}

/** Files that no process reaches. */
export function unreached(files: readonly SourceFile[], entries: readonly string[] = ENTRIES): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const reached = new Set<string>();
  const waiting = [...entries];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (reached.has(path)) continue;
    reached.add(path);
    waiting.push(...(byPath.get(path)?.imports ?? []));
  }
  return files.map((file) => file.path).filter((path) => !reached.has(path));
}

function isAllowed(rules: readonly string[], target: string): boolean {
  if (rules.some((rule) => rule.startsWith("!") && covers(rule.slice(1), target))) return false;
  return rules.some((rule) => covers(rule, target));
}

function covers(part: string, path: string): boolean {
  return part.endsWith("/") ? path.startsWith(part) : path === part;
}
