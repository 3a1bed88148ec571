/** What must fit together across the blocks of a settings file; it also works on a file that is wrong elsewhere. */
import type { Path, RawValue } from "./document.js";
import { suggest } from "./suggestion.js";

/** What a settings file needs to know of a model family. */
export interface KnownFamily {
  readonly name: string;
  readonly needsKey: boolean;
  readonly keyVariable: string | undefined;
  /** Undefined where the settings must say it, unless the family connects inside the process. */
  readonly baseUrl: string | undefined;
  readonly connect: unknown;
}

/** Called with each thing that does not fit. */
export type Refuse = (path: Path, rule: string) => void;

/**
 * Each target names a declared upstream, once; each key has its own secret; each upstream fits its family, where those
 * are known.
 */
export function checkReferences(root: RawValue, families: readonly KnownFamily[] | undefined, refuse: Refuse): void {
  const file = entriesOf(root);
  const upstreams = entriesOf(file.get("upstreams"));
  for (const [id, model] of entriesOf(file.get("models"))) {
    checkTargets(entriesOf(model).get("targets"), ["models", id, "targets"], upstreams, refuse);
  }
  checkSecrets(file.get("keys"), refuse);
  if (families === undefined) return;
  for (const [id, upstream] of upstreams) checkFamily(entriesOf(upstream), ["upstreams", id], families, refuse);
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

function checkSecrets(keys: RawValue, refuse: Refuse): void {
  if (!Array.isArray(keys)) return;
  const seen = new Map<string, number>();
  for (const [index, key] of keys.entries()) {
    const secret = entriesOf(key).get("secret");
    if (typeof secret !== "string") continue;
    const first = seen.get(secret);
    if (first === undefined) seen.set(secret, index);
    else refuse(["keys", index, "secret"], `must differ from the secret of keys[${first}]`);
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
  if (family.baseUrl === undefined && family.connect === undefined && upstream.get("base_url") === undefined)
    refuse([...path, "base_url"], `is missing: the family ${name} has no address of its own`);
}

/** The fields of a block; none where the value is no block. */
function entriesOf(value: RawValue): ReadonlyMap<string, RawValue> {
  return new Map(typeof value === "object" && !Array.isArray(value) ? Object.entries(value) : []);
}
