/** The pages of `docs/`, each of which is loaded when it is opened: console/docs-pages.mjs reads them. */
import { late } from "../parts/late.ts";
import type { Block, PageOfDocs } from "./page-of-docs.ts";

const titles = import.meta.glob<string>("../../docs/*.md", { query: "?title", import: "title", eager: true });
const blocks = import.meta.glob<readonly Block[]>("../../docs/*.md", { import: "blocks" });

/** Not for readers of the console, in which a gateway runs already and which lists the pages itself. */
const LEFT_OUT: ReadonlySet<string> = new Set(["README", "quick-start"]);

export const pages: readonly PageOfDocs[] = Object.entries(blocks)
  .map(([path, load]) => ({ name: nameOf(path), title: titles[path] ?? nameOf(path), load: late(load) }))
  .filter(({ name }) => !LEFT_OUT.has(name));

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1, -".md".length);
}
