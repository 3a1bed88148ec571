/** What must fit together across the blocks of a settings file; it also works on a file that is wrong elsewhere. */
import type { Path, RawValue } from "./yaml-document.js";
import { hasModel, isWildcard } from "./wildcards.js";
import { suggest } from "./suggestion.js";

/** What a settings file needs to know of a model family. */
export interface KnownFamily {
  readonly name: string;
  readonly needsKey: boolean;
  readonly keyVariable: string | undefined;
  /** Undefined where the settings must say it, unless the family connects inside the process. */
  readonly baseUrl: string | undefined;
  readonly connect: unknown;
  /** What `prompt_cache` may say beside `shared`. */
  readonly promptCaches?: readonly string[] | undefined;
  /** True where its answers tell unified limits of whoever asks. */
  readonly hasUnifiedLimits?: boolean;
  /** The wire, with the facts of models that it has a use for and most wires have none. */
  readonly wire?: KnownWire | undefined;
  readonly dialect?: Readonly<Record<string, unknown>>;
  /** Absent where it takes no credential from the machine in the place of a missing one. */
  readonly authorize?: unknown;
  /** True where a credential that is no JSON is the path of a file that holds it. */
  readonly readsKeyFile?: boolean;
  /** The path of a request under the base address. */
  generatePath(model: string, stream: boolean): string;
}

/** What a settings file needs to know of a wire. */
export interface KnownWire {
  readonly ownFacts?: readonly string[] | undefined;
  /** False of what facts say of thoughts and a body of the wire cannot obey. Absent: it obeys all. */
  obeys?(fact: "thinking" | "efforts", value: string, dialect: Readonly<Record<string, unknown>>): boolean;
}

/** What blocks may name although they lack it. */
export interface OutsideNames {
  /** Upstreams that targets may name, each with its family. */
  readonly upstreams: ReadonlyMap<string, string>;
  /** Models that aliases may name. Undefined: not known, so that an alias may name any. */
  readonly models: ReadonlySet<string> | undefined;
}

const NOTHING_OUTSIDE: OutsideNames = { upstreams: new Map(), models: undefined };

/** Called with each thing that does not fit. */
export type Refuse = (path: Path, rule: string) => void;

/**
 * Each target names a declared upstream, once; each alias names a model; each key names a declared account and has its
 * own secret; each OpenID Connect issuer is there once and lets new people into a declared account; each upstream fits
 * its family, where those are known. With `outside`, targets and aliases may also name what is there, and issuers any
 * account.
 */
export function checkReferences(
  root: RawValue,
  families: readonly KnownFamily[] | undefined,
  refuse: Refuse,
  outside?: OutsideNames,
): void {
  const file = entriesOf(root);
  const own = entriesOf(file.get("upstreams"));
  const { upstreams: others, models } = outside ?? NOTHING_OUTSIDE;
  const upstreams = new Map([...[...others].map(([id, family]) => [id, { family }] as const), ...own]);
  for (const [id, model] of entriesOf(file.get("models"))) {
    checkTargets(entriesOf(model).get("targets"), ["models", id, "targets"], upstreams, refuse);
    checkWildcard(entriesOf(model), ["models", id], isWildcard(id), refuse);
    checkBudgets(entriesOf(model).get("targets"), ["models", id, "targets"], upstreams, refuse);
  }
  checkAliases(entriesOf(file.get("aliases")), entriesOf(file.get("models")), models, refuse);
  checkFallbacks(entriesOf(file.get("models")), entriesOf(file.get("aliases")), models, refuse);
  checkKeys(file.get("keys"), entriesOf(file.get("accounts")), refuse);
  // Beside a file there are accounts that it does not name.
  const accounts = outside === undefined ? entriesOf(file.get("accounts")) : undefined;
  checkIssuers(entriesOf(file.get("identity")).get("oidc"), accounts, refuse);
  if (families === undefined) return;
  for (const [id, model] of entriesOf(file.get("models")))
    checkFacts(entriesOf(model), ["models", id, "facts"], upstreams, families, refuse);
  for (const [id, upstream] of own) checkFamily(entriesOf(upstream), ["upstreams", id], families, refuse);
}

function checkTargets(targets: RawValue, path: Path, upstreams: ReadonlyMap<string, RawValue>, refuse: Refuse): void {
  if (!Array.isArray(targets)) return;
  const seen = new Set<string>();
  for (const [index, target] of targets.entries()) {
    const fields = entriesOf(target);
    const upstream = fields.get("upstream");
    if (typeof upstream !== "string") continue;
    if (!upstreams.has(upstream)) {
      const rule = `must name one of the upstreams; "${upstream}" is none${suggest(upstream, upstreams.keys())}`;
      refuse([...path, index, "upstream"], rule);
    }
    const identity = JSON.stringify([upstream, fields.get("model") ?? path[1]]);
    if (seen.has(identity))
      refuse([...path, index], "repeats an earlier target; give one of them the sum of the weights");
    seen.add(identity);
  }
}

/** A budget counts what the operator pays, so that each target that it applies to says its cost. */
function checkBudgets(targets: RawValue, path: Path, upstreams: ReadonlyMap<string, RawValue>, refuse: Refuse): void {
  const hasBudget = (block: RawValue): boolean => entriesOf(entriesOf(block).get("limits")).get("budget") !== undefined;
  for (const [index, target] of (Array.isArray(targets) ? targets : []).entries()) {
    const fields = entriesOf(target);
    const upstream = fields.get("upstream");
    const ofUpstream = typeof upstream === "string" && hasBudget(upstreams.get(upstream));
    if (fields.has("cost") || (!ofUpstream && !hasBudget(target))) continue;
    const whose = ofUpstream ? `the budget of the upstream "${upstream}"` : "its budget";
    refuse([...path, index, "cost"], `is missing: ${whose} counts the cost of the target`);
  }
}

/** A wildcard says how its models are priced and named at the upstream, and no other model does. */
function checkWildcard(model: ReadonlyMap<string, RawValue>, path: Path, isOne: boolean, refuse: Refuse): void {
  if (!isOne) {
    for (const field of ["price_from", "serve"])
      if (model.has(field)) refuse([...path, field], "is only for a model whose name ends with *");
    return;
  }
  const targets = model.get("targets");
  for (const [index, target] of (Array.isArray(targets) ? targets : []).entries()) {
    const name = entriesOf(target).get("model");
    if (typeof name === "string" && name.split("*").length !== 2)
      refuse([...path, "targets", index, "model"], "must have one *, which stands for what the name has in its place");
  }
  if (model.get("price_from") !== "ceiling") {
    if (model.has("price")) refuse([...path, "price"], "is only for price_from: ceiling");
    return;
  }
  for (const field of ["price", "context_tokens", "output_tokens_max"])
    if (!model.has(field)) refuse([...path, field], "is missing: price_from: ceiling needs it");
}

/** An alias has a name of its own and names a model: an alias of an alias would hide what a request costs. */
function checkAliases(
  aliases: ReadonlyMap<string, RawValue>,
  models: ReadonlyMap<string, RawValue>,
  outside: OutsideNames["models"],
  refuse: Refuse,
): void {
  for (const [id, alias] of aliases) {
    if (models.has(id)) {
      refuse(["aliases", id], "has the name of a model: give one of them another name");
      continue;
    }
    const model = entriesOf(alias).get("model");
    if (typeof model !== "string" || models.has(model)) continue;
    if (aliases.has(model)) refuse(["aliases", id, "model"], `must name a model; "${model}" is an alias`);
    else if (isWildcard(model)) refuse(["aliases", id, "model"], "must name one model, without *");
    else if (outside !== undefined && !hasModel(models.keys(), model) && !hasModel(outside, model))
      refuse(["aliases", id, "model"], unknownModel(model, [...models.keys(), ...outside]));
  }
}

/** Each fallback is another model, or an alias of one, and is there once. */
function checkFallbacks(
  models: ReadonlyMap<string, RawValue>,
  aliases: ReadonlyMap<string, RawValue>,
  outside: OutsideNames["models"],
  refuse: Refuse,
): void {
  const own = [...models.keys(), ...aliases.keys()];
  for (const [id, model] of models) {
    const seen = new Set<RawValue>();
    for (const { path, name } of fallbacksIn(model)) {
      if (name === id) refuse(["models", id, ...path], "must name another model");
      else if (path[0] === "fallbacks" && seen.has(name))
        refuse(["models", id, ...path], "repeats an earlier fallback");
      else if (outside !== undefined && !hasModel(own, name) && !hasModel(outside, name))
        refuse(["models", id, ...path], unknownModel(name, [...own, ...outside]));
      if (path[0] === "fallbacks") seen.add(name);
    }
  }
}

/** The models that a model names as its fallbacks, and where. */
export function fallbacksIn(model: RawValue): readonly { readonly path: Path; readonly name: string }[] {
  const fields = entriesOf(model);
  const listed = fields.get("fallbacks");
  const named = (Array.isArray(listed) ? listed : []).map((name, index) => ({ path: ["fallbacks", index], name }));
  return [...named, { path: ["on_context"], name: fields.get("on_context") }].flatMap(({ path, name }) =>
    typeof name === "string" ? [{ path, name }] : [],
  );
}

/** Why an alias or a fallback cannot name a model that is not there. */
export function unknownModel(model: string, known: Iterable<string>): string {
  return `must name one of the models; "${model}" is none${suggest(model, known)}`;
}

/** Facts of a model that only some wires have a use for, as settings call them. All others change every body. */
const FACTS_OF_SOME_WIRES: ReadonlyMap<string, string> = new Map([
  ["without_thinking", "withoutThinking"],
  ["prefill", "prefill"],
  ["cache_marks", "cacheMarks"],
  ["budgets", "budgets"],
  ["signed_calls", "signedCalls"],
  ["result_images", "resultImages"],
]);

/** A fact that no target of the model has a use for would look as if it did something. */
function checkFacts(
  model: ReadonlyMap<string, RawValue>,
  path: Path,
  upstreams: ReadonlyMap<string, RawValue>,
  families: readonly KnownFamily[],
  refuse: Refuse,
): void {
  const targets = model.get("targets");
  const named = (Array.isArray(targets) ? targets : []).map((target) => {
    const upstream = entriesOf(target).get("upstream");
    const name = typeof upstream === "string" ? entriesOf(upstreams.get(upstream)).get("family") : undefined;
    return families.find((family) => family.name === name);
  });
  // A target that is wrong is refused for itself.
  if (named.length === 0 || named.includes(undefined)) return;
  const facts = entriesOf(model.get("facts"));
  for (const [fact, value] of facts) {
    // Whoever names the efforts says by them how it is told.
    if (fact === "thinking" && facts.has("efforts")) continue;
    if (named.some((family) => family !== undefined && heeds(family, fact, value))) continue;
    const heeding = families.filter((family) => heeds(family, fact, value)).map(({ name }) => name);
    refuse([...path, fact], `has no effect on the targets of this model; it has one on ${heeding.join(", ")}`);
  }
}

function heeds({ wire, dialect = {} }: KnownFamily, fact: string, value: RawValue): boolean {
  if (fact === "thinking" || fact === "efforts")
    return wire?.obeys?.(fact, typeof value === "string" ? value : "", dialect) ?? true;
  const known = FACTS_OF_SOME_WIRES.get(fact);
  return known === undefined || wire?.ownFacts?.includes(known) === true;
}

function checkKeys(keys: RawValue, accounts: ReadonlyMap<string, RawValue>, refuse: Refuse): void {
  if (!Array.isArray(keys)) return;
  const seen = new Map<string, number>();
  for (const [index, key] of keys.entries()) {
    checkAccount(entriesOf(key).get("account"), ["keys", index, "account"], accounts, refuse);
    const secret = entriesOf(key).get("secret");
    if (typeof secret !== "string") continue;
    const first = seen.get(secret);
    if (first === undefined) seen.set(secret, index);
    else refuse(["keys", index, "secret"], `must differ from the secret of keys[${first}]`);
  }
}

function checkAccount(account: RawValue, path: Path, accounts: ReadonlyMap<string, RawValue>, refuse: Refuse): void {
  if (typeof account !== "string" || accounts.has(account)) return;
  const hint = suggest(account, accounts.keys()) || `; add "${account}:" to accounts, which changes none that exists`;
  refuse(path, `must name one of the accounts of this file; "${account}" is none${hint}`);
}

/** Of two with one address nobody could say through which of them a person is known. */
function checkIssuers(issuers: RawValue, accounts: ReadonlyMap<string, RawValue> | undefined, refuse: Refuse): void {
  const seen = new Map<string, string>();
  for (const [name, value] of entriesOf(issuers)) {
    const path = ["identity", "oidc", name];
    const issuer = entriesOf(value);
    const newPeople = entriesOf(issuer.get("new_people"));
    if (accounts !== undefined)
      checkAccount(newPeople.get("account"), [...path, "new_people", "account"], accounts, refuse);
    const address = issuer.get("issuer");
    if (typeof address !== "string" || !URL.canParse(address)) continue;
    const { href } = new URL(address);
    const first = seen.get(href);
    if (first === undefined) seen.set(href, name);
    else refuse([...path, "issuer"], `must differ from the issuer of identity.oidc.${first}`);
  }
}

function checkFamily(
  upstream: ReadonlyMap<string, RawValue>,
  path: Path,
  families: readonly KnownFamily[],
  refuse: Refuse,
): void {
  const name = upstream.get("family");
  if (typeof name !== "string") return;
  const family = families.find((known) => known.name === name);
  if (family === undefined) {
    const names = families.map((known) => known.name).sort();
    refuse([...path, "family"], `must be one of ${names.join(", ")}${suggest(name, names)}`);
    return;
  }
  if (family.needsKey && upstream.get("api_key") === undefined) {
    const example = family.keyVariable === undefined ? "" : `, such as "\${${family.keyVariable}}"`;
    refuse([...path, "api_key"], `is missing: the family ${name} needs a key${example}`);
  }
  const baseUrl = upstream.get("base_url");
  if (family.baseUrl === undefined && family.connect === undefined && baseUrl === undefined)
    refuse([...path, "base_url"], `is missing: the family ${name} has no address of its own`);
  const cache = upstream.get("prompt_cache");
  const caches = ["shared", ...(family.promptCaches ?? [])];
  if (typeof cache === "string" && !caches.includes(cache))
    refuse([...path, "prompt_cache"], `must be ${caches.join(" or ")} with the family ${name}`);
  if (upstream.get("unified_limits") === "pass" && family.hasUnifiedLimits !== true)
    refuse([...path, "unified_limits"], `must be hide: the family ${name} reports no unified limits`);
  const problem = typeof baseUrl === "string" ? baseUrlProblem(baseUrl, family) : undefined;
  if (problem !== undefined) refuse([...path, "base_url"], problem);
}

/** What is wrong with an address for its family: it is what the family's own SDK takes, and no more. */
function baseUrlProblem(text: string, family: KnownFamily): string | undefined {
  // That it is no address at all is said by the schema.
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const path = url.pathname.replace(/\/+$/, "");
  const usual = family.baseUrl === undefined ? undefined : new URL(family.baseUrl);
  const said = usual === undefined ? "" : `, such as ${family.baseUrl}`;
  // The path of the requests, as far as no model's name stands in it.
  const [fixed = ""] = family.generatePath("{model}", false).split("/{model}");
  const segments = fixed.split("/").slice(1);
  for (let length = segments.length; length > 0; length -= 1) {
    const end = `/${segments.slice(0, length).join("/")}`;
    if (path.endsWith(end)) return `must end before ${end}, which the gateway adds itself${said}`;
  }
  if (usual !== undefined && url.host === usual.host && path !== usual.pathname.replace(/\/+$/, ""))
    return `must be ${family.baseUrl} at this host`;
  return undefined;
}

/** The fields of a block; none where the value is no block. */
function entriesOf(value: RawValue): ReadonlyMap<string, RawValue> {
  return new Map(typeof value === "object" && !Array.isArray(value) ? Object.entries(value) : []);
}
