/** The mask of an update as JSON says it: names with commas between them, or none, and then the members that came. */
import type { DescMessage, JsonObject } from "@bufbuild/protobuf";
import { FIELD_MASK } from "../api/descriptors.js";
import { isRecord, refuse } from "./json-check.js";

/** Names as the proto spells them. A name in camel case is of another spelling, which the JSON library also takes. */
const NAME = /^[A-Za-z][A-Za-z0-9]*(?:_[a-z][a-z0-9]*)*$/;

/** Writes the mask of an update into its JSON in the spelling that the JSON library reads. Throws PARAMETER_INVALID. */
export function writeMask(desc: DescMessage, json: JsonObject): void {
  const mask = desc.fields.find((field) => field.message?.typeName === FIELD_MASK);
  if (mask === undefined) return;
  const given = json[mask.name] ?? json[mask.jsonName] ?? undefined;
  delete json[mask.jsonName];
  json[mask.name] = given === undefined ? presentNames(desc, json) : camelNames(mask.name, given);
}

/** A member that is null is one that came: it takes its setting away. */
function presentNames(desc: DescMessage, json: JsonObject): string {
  const changed = desc.fields.find((field) => field.fieldKind === "message" && field.message.typeName !== FIELD_MASK);
  const values = changed && (json[changed.name] ?? json[changed.jsonName]);
  const names = isRecord(values) ? Object.keys(values) : [];
  const known = names.map((name) =>
    changed?.message?.fields.find((field) => [field.name, field.jsonName].includes(name)),
  );
  return known.map((field) => field?.jsonName ?? "").join(",");
}

function camelNames(param: string, given: unknown): string {
  const names = String(given)
    .split(",")
    .map((name) => name.trim());
  if (String(given).trim() === "") return "";
  const wrong = names.find((name) => !NAME.test(name));
  if (wrong !== undefined) refuse(param, `${JSON.stringify(wrong.slice(0, 64))} is no name of a setting`);
  return names.map((name) => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())).join(",");
}
