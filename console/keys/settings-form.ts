/** What a person types into the fields of a key, and the settings that it stands for. */
import type { KeySettings } from "../../gen/console/key_service.js";
import { type LimitName, limitsOf, maskName, NO_LIMITS, typedLimits, type TypedLimits } from "../parts/limit-form.ts";

export const SCOPES = [
  "chat",
  "embeddings",
  "rerank",
  "moderations",
  "audio",
  "models",
  "usage",
  "keys",
  "audit",
  "alerts",
] as const;

/** Everything as it was typed. */
export interface Typed extends TypedLimits {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly models: string;
  readonly addresses: string;
  /** A day such as 2026-12-31, at whose start in UTC the key ends; empty for never. */
  readonly expires: string;
}

/** The settings that the form changes. */
export type FormSettings = Pick<KeySettings, "name" | "scopes" | "models" | "addresses" | "expireTime" | LimitName>;

export const FRESH: Typed = {
  name: "",
  scopes: ["chat", "embeddings", "rerank", "moderations", "audio", "models", "usage"],
  models: "",
  addresses: "",
  expires: "",
  ...NO_LIMITS,
};

export function typedOf(settings: KeySettings): Typed {
  return {
    name: settings.name,
    scopes: settings.scopes,
    models: settings.models.join(", "),
    addresses: settings.addresses.join(", "),
    expires: settings.expireTime?.toISOString().slice(0, 10) ?? "",
    ...typedLimits(settings),
  };
}

/** Of what is right. */
export function settingsOf(typed: Typed): FormSettings {
  return {
    name: typed.name.trim(),
    scopes: typed.scopes,
    models: listOf(typed.models),
    addresses: listOf(typed.addresses),
    ...(typed.expires === "" ? {} : { expireTime: new Date(`${typed.expires}T00:00:00Z`) }),
    ...limitsOf(typed),
  };
}

/** The settings that a person changed, and their names as the mask of an update says them. */
export function changesOf(
  before: Typed,
  after: Typed,
): { readonly settings: Partial<FormSettings>; readonly mask: string } {
  const all = settingsOf(after);
  const names = Object.keys(FRESH).filter(
    (name): name is keyof Typed => isNameOf(name) && differs(before[name], after[name]),
  );
  const changed = names.map((name) => (name === "expires" ? "expireTime" : name));
  const settings = Object.fromEntries(Object.entries(all).filter(([name]) => changed.some((one) => one === name)));
  const mask = changed.map(maskName).join(",");
  return { settings, mask };
}

function isNameOf(name: string): name is keyof Typed {
  return name in FRESH;
}

function differs(before: string | readonly string[], after: string | readonly string[]): boolean {
  return String(before) !== String(after);
}

function listOf(text: string): readonly string[] {
  return text
    .split(/[\s,]+/)
    .map((part) => part.trim())
    .filter((part) => part !== "");
}
