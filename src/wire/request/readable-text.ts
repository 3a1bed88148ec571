/** What a person would read of a block that only one wire has, so that other upstreams are told it in words. */
import { listOf, objectOf } from "../json/value.js";

/** Of a longer text the beginning is told. */
export const READABLE_CHARACTERS_MAX = 20_000;
const DEPTH_MAX = 8;

/** The texts of these members, wherever they stand in it and in its `content`, line by line. */
export function readableText(value: unknown, members: readonly string[]): string {
  const texts: string[] = [];
  collect(value, members, texts, 0);
  return texts.join("\n").slice(0, READABLE_CHARACTERS_MAX);
}

function collect(value: unknown, members: readonly string[], texts: string[], depth: number): void {
  if (depth === DEPTH_MAX) return;
  for (const item of listOf(value)) collect(item, members, texts, depth + 1);
  const object = objectOf(value);
  if (object === undefined) return;
  for (const key of members) if (typeof object[key] === "string") texts.push(object[key]);
  collect(object["content"], members, texts, depth + 1);
}
