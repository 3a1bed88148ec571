/** An event of the audit log as a sentence: who did what to which thing, and from which value to which. */
import type { AuditEvent } from "../../gen/console/audit_service.js";
import { auditWords } from "../copy/en-audit.ts";
import { money } from "../format.ts";
import { type Act, ACTS } from "./acts.ts";

/** One field that changed; undefined where it had, or has, no value. */
export interface FieldChange {
  readonly field: string;
  readonly was: string | undefined;
  readonly is: string | undefined;
}

export type AuditedCall = Pick<AuditEvent, "method" | "resource" | "result" | "reason" | "before" | "after"> & {
  readonly actor?: Pick<NonNullable<AuditEvent["actor"]>, "id" | "name" | "kind"> | undefined;
};

type Facts = Readonly<Record<string, unknown>>;
const IN_SENTENCE_MAX = 3;
const NO_NAMES: ReadonlyMap<string, string> = new Map();

/** `names` has those of keys and people by their ids. */
export function sentenceOf(event: AuditedCall, names = NO_NAMES): string {
  const { method, actor, result, reason } = event;
  const who = actor === undefined ? auditWords.anonymous : whoOf(actor, names);
  const [base, past, rest] = ACTS[method] ?? unknownAct(method);
  const what = rest.replace("{it}", thingOf(event, names)).replace("{kind}", kindOf(event));
  if (result === "refused") return `${spaced(`${who} tried to ${base} ${what}`)}, but was refused: ${reason}.`;
  const changes = event.before === "" || event.after === "" ? [] : changesOf(event);
  const done = changedText(past, what, changes);
  return `${spaced(`${who} ${done}`)}${result === "unchanged" ? `. ${auditWords.nothingChanged}` : "."}`;
}

/** The fields that differ, in the order of their names. */
export function changesOf({ before, after }: Pick<AuditedCall, "before" | "after">): readonly FieldChange[] {
  const [was, is] = [flat(parsed(before)), flat(parsed(after))];
  return [...new Set([...was.keys(), ...is.keys()])]
    .toSorted()
    .map((name) => ({
      field: fieldOf(name),
      was: valueOf(name, was.get(name)),
      is: valueOf(name, is.get(name)),
    }))
    .filter((change) => change.was !== change.is);
}

function whoOf({ id, name, kind }: NonNullable<AuditedCall["actor"]>, names: ReadonlyMap<string, string>): string {
  const called = name || names.get(id) || id;
  if (kind === "user" && called !== "") return called;
  if (kind === "gateway") return auditWords.subjects.gateway;
  return called === "" ? auditWords.anonymous : auditWords.subjects[kind](called);
}

/** One field of an updated thing is the whole sentence; a few stand behind it; more are in the details. */
function changedText(past: string, what: string, changes: readonly FieldChange[]): string {
  const [first] = changes;
  if (past !== "changed" || first === undefined) return `${past} ${what}`;
  if (changes.length === 1) return oneChange(first, what);
  const shown = changes.slice(0, IN_SENTENCE_MAX).map(({ field, was, is }) => auditWords.fromTo(field, was, is));
  const more = changes.length - shown.length;
  return `changed ${what}: ${shown.join("; ")}${more > 0 ? `; ${auditWords.moreFields(more)}` : ""}`;
}

function oneChange({ field, was, is }: FieldChange, what: string): string {
  if (was === undefined) return `set the ${field} of ${what} to ${is}`;
  if (is === undefined) return `removed the ${field} of ${what}, which was ${was}`;
  const [less, more] = [amountIn(was), amountIn(is)];
  const verb = less === undefined || more === undefined ? "changed" : less < more ? "raised" : "lowered";
  return `${verb} the ${field} of ${what} from ${was} to ${is}`;
}

/** The number that a value is, such as 5.00 USD or 60; undefined where it is none. */
function amountIn(text: string): number | undefined {
  const digits = text.replace(/^\$/, "").replaceAll(",", "");
  return /^\d+(?:\.\d+)?$/.test(digits) ? Number(digits) : undefined;
}

/** What the thing is called: by its name in the event, else by its id. */
function thingOf({ resource, before, after }: AuditedCall, names: ReadonlyMap<string, string>): string {
  const id = resource.split("/").findLast((part) => part !== "" && part !== "limits") ?? resource;
  const named = [after, before].map((text) => parsed(text)["name"]).find((name) => typeof name === "string");
  return typeof named === "string" ? named : (names.get(id) ?? id);
}

/** Such as upstream for `settings/objects/upstream/away`. */
function kindOf({ resource }: AuditedCall): string {
  return resource.split("/").at(-2)?.replaceAll("_", " ") ?? auditWords.object;
}

/** Such as "called SomeService.MakeThing on {it}" for a method of a newer gateway. */
function unknownAct(method: string): Act {
  return ["call", "called", `${method} on {it}`];
}

function parsed(text: string): Facts {
  try {
    const facts: unknown = JSON.parse(text);
    return typeof facts === "object" && facts !== null ? (facts as Facts) : {};
  } catch {
    return {};
  }
}

/** The values by paths such as `limits.concurrency`. */
function flat(facts: Facts, prefix = ""): Map<string, unknown> {
  const values = new Map<string, unknown>();
  for (const [name, value] of Object.entries(facts)) {
    const isNested = typeof value === "object" && value !== null && !Array.isArray(value);
    const inner = isNested ? flat(value as Facts, `${prefix}${name}.`) : [[`${prefix}${name}`, value] as const];
    for (const [path, one] of inner) values.set(path, one);
  }
  return values;
}

function fieldOf(path: string): string {
  const known = auditWords.fields[path];
  return (
    known ??
    path
      .replace(/_nanos$/, "")
      .replaceAll(".", " ")
      .replaceAll("_", " ")
  );
}

function valueOf(path: string, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (path.endsWith("_nanos") && /^-?\d+$/.test(String(value))) return money(BigInt(String(value)));
  if (typeof value === "boolean") return value ? "on" : "off";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** Without the gaps that empty parts leave. */
function spaced(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
