/** The settings file as it is written, without its secrets, and its editor where the process may write it. */
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useRef, useState } from "react";
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
import { forget } from "../api/queries.ts";
import { useAct } from "../api/use-act.ts";
import { words } from "../copy/en.ts";
import { settingsWords } from "../copy/en-settings.ts";
import { Code } from "../parts/code.tsx";
import { TextField } from "../parts/field.tsx";
import { Problem } from "../parts/problem.tsx";
import { useSignedIn } from "../shell/session.ts";
import { SoldModels } from "./settings-sold.tsx";

const ROWS = 24;

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
  const field = useRef<HTMLDivElement>(null);
  const check = useMutation({ mutationFn: () => call(checkSettings, { content, etag }) });
  const save = useAct(
    async () => {
      const { problems } = await check.mutateAsync();
      if (problems.length > 0) return false;
      await call(updateSettings, { content, etag });
      void forget(getSettings, listNodes, listAuditEvents);
      return true;
    },
    (isSaved) => isSaved && onClose(),
  );
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    save.run();
  };
  const isBusy = check.isPending || save.isPending;
  return (
    <form onSubmit={submit} className="stack">
      <p>{settingsWords.saveWill}</p>
      <div ref={field}>
        <TextField
          label={settingsWords.text}
          hint={settingsWords.textRule}
          className="input code"
          rows={ROWS}
          value={content}
          spellCheck={false}
          autoFocus
          onChange={({ currentTarget: { value } }) => {
            setContent(value);
            check.reset();
          }}
        />
      </div>
      {check.data !== undefined && (
        <>
          <Problems problems={check.data.problems} onGo={(problem) => goTo(field.current, problem)} />
          <SoldModels models={check.data.models} />
        </>
      )}
      {save.error !== null ? (
        <Problem error={save.error} what={settingsWords.saveFailed} />
      ) : (
        check.error !== null && <Problem error={check.error} what={settingsWords.checkFailed} />
      )}
      <div className="row">
        <button className="button main" type="submit" disabled={isBusy || content === before}>
          {settingsWords.save}
        </button>
        <button className="button" type="button" disabled={isBusy} onClick={() => check.mutate()}>
          {settingsWords.check}
        </button>
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
    <div className="notice bad stack" role="alert">
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

/** Puts the caret where a problem is. */
function goTo(box: HTMLElement | null, { line, column }: SettingsProblem): void {
  const text = box?.querySelector("textarea");
  if (!text) return;
  const lines = text.value.split("\n");
  const start = lines.slice(0, line - 1).reduce((sum, { length }) => sum + length + 1, 0);
  text.focus();
  text.setSelectionRange(start + column - 1, start + (lines[line - 1]?.length ?? column));
  text.scrollTop = (text.scrollHeight * Math.max(line - ROWS / 2, 0)) / lines.length;
}
