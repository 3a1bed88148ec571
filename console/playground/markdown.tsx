/** An answer's Markdown as elements. HTML in it stays text, and its pictures are links: nothing loads by itself. */
import type { ComponentProps, ReactNode } from "react";
import { isValidElement } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import { playgroundWords } from "../copy/en-playground.ts";
import { Code } from "../parts/code.tsx";

const PLUGINS = [remarkGfm];

const COMPONENTS: Components = {
  // They are headings of the answer, and would break the order of the page's own headings.
  h1: Heading,
  h2: Heading,
  h3: Heading,
  h4: Heading,
  h5: Heading,
  h6: Heading,
  a: ({ href, children }) => <Outward href={href}>{children}</Outward>,
  img: ({ src, alt }) => <Outward href={typeof src === "string" ? src : undefined}>{alt || String(src)}</Outward>,
  pre: ({ children }) => <Code text={textOf(children)} what={playgroundWords.codeBlock} role="group" />,
  table: ({ children }) => (
    <div className="table-scroll" role="group" aria-label={playgroundWords.table} tabIndex={0}>
      <table>{children}</table>
    </div>
  ),
};

export function Markdown({ text }: { readonly text: string }): ReactNode {
  return (
    <div className="markdown">
      <ReactMarkdown remarkPlugins={PLUGINS} components={COMPONENTS}>
        {text}
      </ReactMarkdown>
    </div>
  );
}

function Heading({ children }: Pick<ComponentProps<"p">, "children">): ReactNode {
  return (
    <p>
      <strong>{children}</strong>
    </p>
  );
}

function Outward({ href, children }: Pick<ComponentProps<"a">, "href" | "children">): ReactNode {
  return (
    <a href={href} rel="noreferrer" target="_blank">
      {children}
    </a>
  );
}

/** The text of a block of code, which comes as an element in another one. */
function textOf(children: ReactNode): string {
  if (typeof children === "string") return children.replace(/\n$/, "");
  if (Array.isArray(children)) return children.map(textOf).join("");
  return isValidElement<{ readonly children?: ReactNode }>(children) ? textOf(children.props.children) : "";
}
