/** The settings file as it is written, without its secrets, and its editor where the process may write it. */
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, lazy, type ReactNode, Suspense, useId, useRef, useState } from "react";
import { listAuditEvents } from "../../gen/console/audit_service.js";
import { listNodes } from "../../gen/console/node_service.js";
import {
  checkSettings,
  getSettings,
  type SettingsFile,
  type SettingsProblem,
  updateSettings,
} from "../../gen/console/settings_service.js";
import { call } from "../api/client.ts";
import { ask, cache, forget } from "../api/queries.ts";
import { useAct } from "../api/use-act.ts";
import { words } from "../copy/en.ts";
import { settingsWords } from "../copy/en-settings.ts";
import { ActButton } from "../parts/act-button.tsx";
import { Code } from "../parts/code.tsx";
import { late } from "../parts/late.ts";
import { Problem } from "../parts/problem.tsx";
import { useSettled } from "../parts/settled.ts";
import { Waiting } from "../parts/waiting.tsx";
import { useSignedIn } from "../shell/session.ts";
import { SoldModels } from "./settings-sold.tsx";
import type { YamlEditorHandle } from "./yaml-editor.tsx";

// It is larger than all that the other pages load.
const YamlEditor = lazy(late(async () => ({ default: (await import("./yaml-editor.tsx")).YamlEditor })));
const NO_PROBLEMS: readonly SettingsProblem[] = [];

export interface SettingsFileParts {
  /** Undefined where the node has none. */
  readonly file: SettingsFile | undefined;
  readonly isOneOfMany: boolean;
}

export function SettingsFileSection({ file, isOneOfMany }: SettingsFileParts): ReactNode {
  const { isOperator } = useSignedIn();
  const [isEditing, setEditing] = useState(false);
  if (file === undefined) return <p className="notice">{settingsWords.noFile}</p>;
  const mayEdit = isOperator && file.writable;
  return (
    <section className="stack">
      <div className="page-head">
        <h2>
          {file.name}{" "}
          <span className={file.inForce ? "tag good" : "tag warn"}>
            {file.inForce ? settingsWords.inForce : settingsWords.notInForce}
          </span>
        </h2>
        {mayEdit && !isEditing && (
          <button className="button" type="button" onClick={() => setEditing(true)}>
            {settingsWords.edit}
          </button>
        )}
      </div>
      <p className="soft">{settingsWords.fileAbout}</p>
      {isOneOfMany && <p className="notice">{settingsWords.oneOfMany}</p>}
      {!file.writable && <p className="notice">{settingsWords.readOnly(file.problem)}</p>}
      {isEditing ? (
        <Editor file={file} onClose={() => setEditing(false)} />
      ) : (
        <div className="short">
          <Code text={file.content} what={file.name} />
        </div>
      )}
    </section>
  );
}

interface EditorParts {
  readonly file: SettingsFile;
  readonly onClose: () => void;
}

function Editor({ file, onClose }: EditorParts): ReactNode {
  // What was read when the editor opened: a change by somebody else meanwhile is refused, not written over.
  const [{ content: before, etag }] = useState(file);
  const [content, setContent] = useState(before);
  const hint = useId();
  const editor = useRef<YamlEditorHandle>(null);
  const settled = useSettled(content);
  // Each text is checked once, and its answer is not used again.
  const check = useQuery({ ...ask(checkSettings, { content: settled, etag }), gcTime: 0 });
  const problems = check.data?.problems ?? NO_PROBLEMS;
  const save = useAct(
    async () => {
      const checked = await cache.fetchQuery({ ...ask(checkSettings, { content, etag }), gcTime: 0 });
      // They are shown as soon as the text is settled.
      if (checked.problems.length > 0) return false;
      await call(updateSettings, { content, etag });
      void forget(getSettings, listNodes, listAuditEvents);
      return true;
    },
    (isSaved) => isSaved && onClose(),
  );
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!save.isPending && content !== before) save.run();
  };
  return (
    <form onSubmit={submit} className="stack">
      <p>{settingsWords.saveWill}</p>
      <div className="field">
        <Suspense fallback={<Waiting height={540} />}>
          <YamlEditor
            label={settingsWords.text}
            describedBy={hint}
            text={before}
            problems={problems}
            onText={setContent}
            ref={editor}
          />
        </Suspense>
        <small id={hint}>
          {settingsWords.editorRule} {settingsWords.textRule}
        </small>
      </div>
      {check.data !== undefined && (
        <>
          <Problems problems={problems} onGo={(problem) => editor.current?.goTo(problem)} />
          <SoldModels models={check.data.models} />
        </>
      )}
      {save.error !== null ? (
        <Problem error={save.error} what={settingsWords.saveFailed} />
      ) : (
        check.error !== null && <Problem error={check.error} what={settingsWords.checkFailed} />
      )}
      <div className="row">
        <ActButton className="button main" disabled={save.isPending || content === before}>
          {settingsWords.save}
        </ActButton>
        <button className="button" type="button" onClick={onClose}>
          {words.form.cancel}
        </button>
      </div>
    </form>
  );
}

interface ProblemsParts {
  readonly problems: readonly SettingsProblem[];
  readonly onGo: (problem: SettingsProblem) => void;
}

function Problems({ problems, onGo }: ProblemsParts): ReactNode {
  if (problems.length === 0)
    return (
      <p className="notice good" role="status">
        {settingsWords.right}
      </p>
    );
  return (
    <div className="notice bad stack" role="status">
      <strong>{settingsWords.wrong(problems.length)}</strong>
      <ul>
        {problems.map((problem) => (
          <li key={`${problem.line}:${problem.column} ${problem.problem}`}>
            {problem.line > 0 && (
              <button className="button small" type="button" onClick={() => onGo(problem)}>
                {settingsWords.place(problem.line, problem.column)}
              </button>
            )}{" "}
            {problem.problem}
          </li>
        ))}
      </ul>
    </div>
  );
}
