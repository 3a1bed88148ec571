/** An editor for the text of a settings file: colours, completion by its schema, and a mark at each error. */
import {
  autocompletion,
  completionKeymap,
  type CompletionContext,
  type CompletionResult,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { EditorState, type Extension } from "@codemirror/state";
import { EditorView, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { type ReactNode, type Ref, useEffect, useImperativeHandle, useRef } from "react";
import schema from "../../schemas/tollgate.schema.json";
import type { SettingsProblem } from "../../gen/console/settings_service.js";
import { placeAt, proposals, type Schema } from "./schema-completion.ts";

export interface YamlEditorHandle {
  /** Puts the caret where a problem is. */
  goTo(problem: SettingsProblem): void;
}

export interface YamlEditorParts {
  readonly label: string;
  /** The element that says how it is used. */
  readonly describedBy: string;
  /** The text that it begins with. */
  readonly text: string;
  readonly problems: readonly SettingsProblem[];
  readonly onText: (text: string) => void;
  readonly ref: Ref<YamlEditorHandle>;
}

export function YamlEditor({ label, describedBy, text, problems, onText, ref }: YamlEditorParts): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const report = useRef(onText);
  useEffect(() => {
    report.current = onText;
  });
  useEffect(() => {
    const parent = box.current;
    if (parent === null) return undefined;
    const tell = EditorView.updateListener.of(
      (update) => update.docChanged && report.current(update.state.doc.toString()),
    );
    const named = { "aria-label": label, "aria-describedby": describedBy, tabindex: "0" };
    const attributes = EditorView.contentAttributes.of(named);
    const state = EditorState.create({ doc: text, extensions: [...EXTENSIONS, attributes, tell] });
    const editor = new EditorView({ parent, state });
    view.current = editor;
    editor.focus();
    return () => editor.destroy();
    // What it begins with is of no concern once it is there.
    // oxlint-disable-next-line react/exhaustive-deps
  }, []);
  useEffect(() => {
    const editor = view.current;
    if (editor !== null)
      editor.dispatch(
        setDiagnostics(
          editor.state,
          problems.flatMap((one) => markOf(editor, one)),
        ),
      );
  }, [problems]);
  useImperativeHandle(ref, () => ({
    goTo: (problem) => {
      const [mark] = view.current === null ? [] : markOf(view.current, problem);
      if (mark === undefined) return;
      const selection = { anchor: mark.from, head: mark.to };
      view.current?.dispatch({ selection, effects: EditorView.scrollIntoView(mark.from, { y: "center" }) });
      view.current?.focus();
    },
  }));
  return <div ref={box} className="yaml" />;
}

/** From the column of a problem to the end of its line; none where it is of the text as a whole. */
function markOf({ state: { doc } }: EditorView, { line, column, problem }: SettingsProblem): readonly Diagnostic[] {
  if (line < 1 || line > doc.lines) return [];
  const { from, to } = doc.line(line);
  return [{ from: Math.min(from + Math.max(column, 1) - 1, to), to, severity: "error", message: problem }];
}

function complete({ state, pos, explicit }: CompletionContext): CompletionResult | null {
  const { number, from } = state.doc.lineAt(pos);
  const lines = Array.from({ length: number }, (_, index) => state.doc.line(index + 1).text);
  const place = placeAt(lines, number - 1, pos - from);
  if (place === undefined || (!explicit && from + place.from === pos)) return null;
  // The edge: a schema has more parts than are read.
  const options = proposals(schema as Schema, place).map(({ word, isKey, about }) => ({
    label: word,
    apply: isKey ? `${word}: ` : word,
    info: about,
  }));
  return options.length === 0 ? null : { from: from + place.from, options, validFor: /^[\w.-]*$/ };
}

/** The page's policy takes no style without it. */
function nonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? "";
}

const COLOURS = HighlightStyle.define([
  { tag: [tags.definition(tags.propertyName), tags.propertyName], color: "var(--accent)" },
  { tag: tags.comment, color: "var(--ink-soft)", fontStyle: "italic" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--good)" },
]);

const LOOKS = EditorView.theme({
  "&": {
    maxHeight: "34rem",
    border: "1px solid var(--line-strong)",
    borderRadius: "var(--radius-s)",
    backgroundColor: "var(--surface)",
    color: "var(--ink)",
    fontSize: "var(--text-s)",
  },
  "&.cm-focused": { outline: "2px solid var(--focus)", outlineOffset: "2px" },
  ".cm-scroller": { overflow: "auto", fontFamily: "var(--font-code)", lineHeight: "1.6" },
  ".cm-content": { minHeight: "12rem", caretColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--sunken)", color: "var(--ink-soft)", borderRight: "1px solid var(--line)" },
  ".cm-tooltip": { backgroundColor: "var(--raised)", color: "var(--ink)", border: "1px solid var(--line)" },
  ".cm-tooltip.cm-completionInfo": { padding: "var(--space-2)", maxWidth: "min(24rem, 80vw)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": {
    backgroundColor: "var(--accent-wash)",
    color: "var(--ink)",
  },
  ".cm-diagnostic-error": { borderLeftColor: "var(--bad)" },
});

const EXTENSIONS: readonly Extension[] = [
  EditorView.cspNonce.of(nonce()),
  lineNumbers(),
  history(),
  indentOnInput(),
  bracketMatching(),
  yaml(),
  syntaxHighlighting(COLOURS),
  autocompletion({ override: [complete] }),
  lintGutter(),
  LOOKS,
  // Escape, and then Tab, leaves the editor.
  keymap.of([...completionKeymap, ...historyKeymap, ...lintKeymap, ...defaultKeymap, indentWithTab]),
];
