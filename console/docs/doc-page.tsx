/** A page of `docs/`, with the reader's own address and key in its examples. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Fragment, type ReactNode, useEffect } from "react";
import { words } from "../copy/en.ts";
import { Code } from "../parts/code.tsx";
import { Loaded } from "../parts/loaded.tsx";
import type { Block, Inline, PageOfDocs } from "./page-of-docs.ts";

export interface DocPageParts {
  readonly page: PageOfDocs;
  /** What stands in the place of a key's secret. */
  readonly secret: string;
}

export function DocPage({ page, secret }: DocPageParts): ReactNode {
  const blocks = useQuery({
    queryKey: ["docs", page.name],
    queryFn: () => page.load(),
    staleTime: Infinity,
  });
  // The place that a link names is there only now.
  const isThere = blocks.data !== undefined;
  useEffect(() => {
    const { hash } = window.location;
    if (isThere && hash !== "") document.getElementById(decodeURIComponent(hash.slice(1)))?.scrollIntoView();
  }, [isThere, page.name]);
  return (
    <Loaded of={blocks} what={words.pages.docs}>
      {(all) => <Blocks blocks={all} secret={secret} title={page.title} />}
    </Loaded>
  );
}

/** An example with the reader's own address and key in it. */
function ownExample(text: string, origin: string, secret: string): string {
  return text.replaceAll("$GATEWAY", origin).replaceAll("http://127.0.0.1:8080", origin).replaceAll("$KEY", secret);
}

interface BlocksParts {
  readonly blocks: readonly Block[];
  readonly secret: string;
  /** Names what holds them, for whoever cannot see it. Numbers make it another one for each. */
  readonly title: string;
}

function Blocks({ blocks, secret, title }: BlocksParts): ReactNode {
  return blocks.map((block, index) => (
    <Shown key={index} block={block} secret={secret} title={`${title} ${index + 1}`} />
  ));
}

function Shown({ block, secret, title }: { readonly block: Block } & Omit<BlocksParts, "blocks">): ReactNode {
  switch (block.kind) {
    case "heading": {
      const Heading = block.depth === 2 ? "h3" : "h4";
      return (
        <Heading id={block.id}>
          <Words of={block.text} />
        </Heading>
      );
    }
    case "text":
      return (
        <p>
          <Words of={block.text} />
        </p>
      );
    case "code":
      return <Code text={ownExample(block.text, window.location.origin, secret)} what={title} />;
    case "list": {
      const List = block.ordered ? "ol" : "ul";
      return (
        <List>
          {block.items.map((item, index) => (
            <li key={index}>
              <Item blocks={item} secret={secret} title={`${title} ${index + 1}`} />
            </li>
          ))}
        </List>
      );
    }
    case "table":
      return <DocTable head={block.head} rows={block.rows} title={title} />;
  }
}

/** An entry of one line stands without a paragraph's space. */
function Item({ blocks, secret, title }: BlocksParts): ReactNode {
  const [first, ...rest] = blocks;
  if (first?.kind !== "text") return <Blocks blocks={blocks} secret={secret} title={title} />;
  return (
    <>
      <Words of={first.text} />
      <Blocks blocks={rest} secret={secret} title={title} />
    </>
  );
}

const COLUMNS_FEW = 4;

type DocTableParts = Omit<Extract<Block, { kind: "table" }>, "kind"> & { readonly title: string };

function DocTable({ head, rows, title }: DocTableParts): ReactNode {
  return (
    <div className="table-scroll" role="region" aria-label={title} tabIndex={0}>
      <table className={head.length > COLUMNS_FEW ? "doc-table many" : "doc-table"}>
        <thead>
          <tr>
            {head.map((cell, index) => (
              <th key={index} scope="col">
                <Words of={cell} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, place) => (
                <td key={place}>
                  {place > 0 && (
                    <span className="narrow-only soft" aria-hidden="true">
                      <Words of={head[place] ?? []} />:{" "}
                    </span>
                  )}
                  <Words of={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Words({ of }: { readonly of: readonly Inline[] }): ReactNode {
  return of.map((one, index) => <Fragment key={index}>{wordsOf(one)}</Fragment>);
}

function wordsOf(one: Inline): ReactNode {
  if (typeof one === "string") return one;
  switch (one.kind) {
    case "code":
      return <code>{breakable(one.text)}</code>;
    case "strong":
      return (
        <strong>
          <Words of={one.text} />
        </strong>
      );
    case "em":
      return (
        <em>
          <Words of={one.text} />
        </em>
      );
    case "out":
      return (
        <a href={one.href} rel="noreferrer" target="_blank">
          <Words of={one.text} />
        </a>
      );
    case "link":
      return (
        <Link
          to="/docs"
          search={(before) => ({ ...before, about: one.page || before.about })}
          {...(one.anchor === "" ? {} : { hash: one.anchor })}
        >
          <Words of={one.text} />
        </Link>
      );
  }
}

/** A long name may go on in the next line behind an underscore, where a table has no room for all of it. */
function breakable(name: string): ReactNode {
  const [first, ...rest] = name.split("_");
  return (
    <>
      {first}
      {rest.map((part, index) => (
        <Fragment key={index}>
          _<wbr />
          {part}
        </Fragment>
      ))}
    </>
  );
}
