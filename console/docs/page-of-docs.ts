/** The pages of `docs/`, as the build reads them: console/docs-pages.mjs. */
export type Inline =
  | string
  | { readonly kind: "code"; readonly text: string }
  | { readonly kind: "strong" | "em"; readonly text: readonly Inline[] }
  | { readonly kind: "link"; readonly page: string; readonly anchor: string; readonly text: readonly Inline[] }
  | { readonly kind: "out"; readonly href: string; readonly text: readonly Inline[] };

export type Block =
  | { readonly kind: "heading"; readonly depth: number; readonly id: string; readonly text: readonly Inline[] }
  | { readonly kind: "text"; readonly text: readonly Inline[] }
  | { readonly kind: "code"; readonly text: string; readonly lang: string }
  | { readonly kind: "list"; readonly ordered: boolean; readonly items: readonly (readonly Block[])[] }
  | {
      readonly kind: "table";
      readonly head: readonly (readonly Inline[])[];
      readonly rows: readonly (readonly (readonly Inline[])[])[];
    };

export interface PageOfDocs {
  /** Such as keys, of docs/keys.md. */
  readonly name: string;
  readonly title: string;
  readonly load: () => Promise<readonly Block[]>;
}
