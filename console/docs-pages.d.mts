/** What tests know of the plugin that reads the pages of docs. */
import type { Block } from "./docs/page-of-docs.js";

export function blocksOf(text: string, names: readonly string[]): Block[];
