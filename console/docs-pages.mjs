/**
 * The pages of `docs/` for the console: a plugin of its build that reads each page's Markdown into plain values, so
 * that no reader's browser parses any and nothing in a page is markup of its own.
 */
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { marked } from "marked";

/** @import { Plugin } from "vite" */
/** @import { Token, Tokens } from "marked" */
/** @import { Block, Inline } from "./docs/page-of-docs.js" */

/** Where a decision is told of, which a reader of the console does not have. */
const DECISIONS = /\s*\(\[[^\]]*\]\(decisions\/[^)]*\)(?:,\s*\[[^\]]*\]\(decisions\/[^)]*\))*\)/g;
/** As console/docs/pages.ts leaves them out. */
const LEFT_OUT = new Set(["README", "quick-start"]);
const PAGE = ".md";
const TITLE = ".md?title";

/** Makes of each page a module with its `blocks`, and with the query `title` one with its `title`. @returns {Plugin} */
export function docsPages() {
  return {
    name: "docs-pages",
    load: (id) => {
      if (id.endsWith(TITLE)) {
        const path = id.slice(0, -"?title".length);
        return `export const title = ${JSON.stringify(/^# (.+)$/m.exec(readFileSync(path, "utf8"))?.[1] ?? "")};`;
      }
      if (!id.endsWith(PAGE)) return undefined;
      return `export const blocks = ${JSON.stringify(blocksOf(readFileSync(id, "utf8"), namesBeside(id)))};`;
    },
  };
}

/** The names of the pages that links may lead to. @param {string} path Of one of them. */
function namesBeside(path) {
  const names = readdirSync(dirname(path)).filter((name) => name.endsWith(PAGE));
  return names.map((name) => basename(name, PAGE)).filter((name) => !LEFT_OUT.has(name));
}

/** @param {string} text @param {readonly string[]} names Of pages that links may lead to. @returns {Block[]} */
export function blocksOf(text, names) {
  return marked.lexer(text.replaceAll(DECISIONS, "")).flatMap((token) => blockOf(token, names));
}

/** @param {Token} token @param {readonly string[]} names @returns {Block[]} */
function blockOf(token, names) {
  const inline = (/** @type {Token[] | undefined} */ tokens) => inlinesOf(tokens ?? [], names);
  switch (token.type) {
    case "heading": {
      const { depth, tokens, text } = /** @type {Tokens.Heading} */ (token);
      // The page has its title already.
      return depth === 1 ? [] : [{ kind: "heading", depth, id: slugOf(text), text: inline(tokens) }];
    }
    case "paragraph":
    case "text":
      return [{ kind: "text", text: "tokens" in token ? inline(token.tokens) : [token.raw] }];
    case "code": {
      const { text, lang = "" } = /** @type {Tokens.Code} */ (token);
      return [{ kind: "code", text, lang }];
    }
    case "list": {
      const { ordered, items } = /** @type {Tokens.List} */ (token);
      return [{ kind: "list", ordered, items: items.map((item) => item.tokens.flatMap((one) => blockOf(one, names))) }];
    }
    case "table": {
      const { header, rows } = /** @type {Tokens.Table} */ (token);
      const cells = (/** @type {Tokens.TableCell[]} */ row) => row.map(({ tokens }) => inline(tokens));
      return [{ kind: "table", head: cells(header), rows: rows.map(cells) }];
    }
    case "blockquote":
      return (token.tokens ?? []).flatMap((/** @type {Token} */ one) => blockOf(one, names));
    // Comments and rules of the text.
    default:
      return [];
  }
}

/** @param {readonly Token[]} tokens @param {readonly string[]} names @returns {Inline[]} */
function inlinesOf(tokens, names) {
  return tokens.flatMap((token) => inlineOf(token, names));
}

/** @param {Token} token @param {readonly string[]} names @returns {Inline[]} */
function inlineOf(token, names) {
  switch (token.type) {
    case "codespan":
      return [{ kind: "code", text: token.text }];
    case "strong":
    case "em":
      return [{ kind: token.type, text: inlinesOf(token.tokens ?? [], names) }];
    case "link":
      return linkOf(/** @type {Tokens.Link} */ (token), names);
    case "br":
      return ["\n"];
    case "escape":
      return [token.text];
    default:
      return "tokens" in token && token.tokens ? inlinesOf(token.tokens, names) : [plain(token.raw)];
  }
}

/** Leads to another page of the console, or out; what readers do not have here stays its words. */
function linkOf(/** @type {Tokens.Link} */ { href, tokens }, /** @type {readonly string[]} */ names) {
  const text = inlinesOf(tokens, names);
  if (/^https?:/.test(href)) return [{ kind: /** @type {const} */ ("out"), href, text }];
  const [, page = "", anchor = ""] = /^(?:([\w-]+)\.md)?(?:#([\w-]+))?$/.exec(href) ?? [];
  if (page === "" && anchor === "") return text;
  if (page !== "" && !names.includes(page)) return text;
  return [{ kind: /** @type {const} */ ("link"), page, anchor, text }];
}

/** @param {string} text */
const plain = (text) =>
  text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&amp;", "&");

/** As other readers of Markdown make them. @param {string} text */
function slugOf(text) {
  return text
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, "")
    .trim()
    .replaceAll(/\s+/g, "-");
}
