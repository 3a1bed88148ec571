/** The message box: text, pictures and files, and the buttons that send and stop. */
import { type ClipboardEvent, type DragEvent, type FormEvent, type KeyboardEvent, type ReactNode } from "react";
import { useRef, useState } from "react";
import { playgroundWords } from "../copy/en-playground.ts";
import { TextField } from "../parts/field.tsx";
import { ACCEPTED, attach, type Attachment, BYTES_MAX, COUNT_MAX } from "./attachments.ts";
import { AttachmentList } from "./attachment-list.tsx";
import type { Message } from "./use-talk.ts";

export interface ComposerParts {
  readonly message: Message;
  readonly isRunning: boolean;
  readonly maySend: boolean;
  /** True where the gateway refuses every message, which is said above. */
  readonly isBarred: boolean;
  readonly isEditing: boolean;
  readonly onChange: (message: Message) => void;
  readonly onSend: () => void;
  readonly onStop: () => void;
  readonly onCancel: () => void;
  /** What the next message costs. */
  readonly children: ReactNode;
}

export function Composer({ message, onChange, onSend, ...parts }: ComposerParts): ReactNode {
  const [problems, setProblems] = useState<readonly string[]>([]);
  const sendByKey = (event: KeyboardEvent): void => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    if (parts.maySend) onSend();
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (parts.maySend) onSend();
  };
  const add = async (files: readonly File[]): Promise<void> => {
    const added = await attach(message.attachments, files);
    setProblems(added.problems);
    onChange({ ...message, attachments: added.attachments });
  };
  const addFrom = (event: ClipboardEvent | DragEvent, { files }: DataTransfer): void => {
    if (files.length === 0) return;
    event.preventDefault();
    if (!parts.isBarred) void add([...files]);
  };
  return (
    <form
      className="card stack composer"
      onSubmit={submit}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => addFrom(event, event.dataTransfer)}
      onPaste={(event) => addFrom(event, event.clipboardData)}
    >
      {parts.isEditing && <p className="soft">{playgroundWords.editing}</p>}
      <TextField
        label={playgroundWords.message}
        hint={playgroundWords.messageRule}
        value={message.text}
        rows={3}
        autoFocus
        disabled={parts.isBarred}
        onKeyDown={sendByKey}
        onChange={({ currentTarget: { value } }) => onChange({ ...message, text: value })}
      />
      <AttachmentList
        attachments={message.attachments}
        onRemove={(gone) => onChange({ ...message, attachments: without(message.attachments, gone) })}
      />
      <NotAdded problems={problems} />
      {parts.children}
      <div className="row">
        <button className="button main" type="submit" disabled={!parts.maySend}>
          {playgroundWords.send}
        </button>
        {parts.isRunning && (
          <button className="button" type="button" onClick={parts.onStop}>
            {playgroundWords.stop}
          </button>
        )}
        {parts.isEditing && (
          <button className="button quiet" type="button" onClick={parts.onCancel}>
            {playgroundWords.cancelEdit}
          </button>
        )}
        <AddFiles isDisabled={parts.isBarred} onAdd={(files) => void add(files)} />
      </div>
    </form>
  );
}

function NotAdded({ problems }: { readonly problems: readonly string[] }): ReactNode {
  if (problems.length === 0) return null;
  return (
    <div className="notice bad" role="alert">
      {problems.map((problem) => (
        <p key={problem}>{problem}</p>
      ))}
    </div>
  );
}

function without(all: readonly Attachment[], gone: number): readonly Attachment[] {
  return all.filter((_, index) => index !== gone);
}

interface AddFilesParts {
  readonly isDisabled: boolean;
  readonly onAdd: (files: readonly File[]) => void;
}

function AddFiles({ isDisabled, onAdd }: AddFilesParts): ReactNode {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button
        className="button quiet"
        type="button"
        disabled={isDisabled}
        title={playgroundWords.filesRule(COUNT_MAX, BYTES_MAX / 1_024 / 1_024)}
        onClick={() => input.current?.click()}
      >
        {playgroundWords.addFiles}
      </button>
      <input
        ref={input}
        type="file"
        hidden
        multiple
        accept={ACCEPTED}
        onChange={({ currentTarget }) => {
          onAdd([...(currentTarget.files ?? [])]);
          // The same file may be added again after it was removed.
          currentTarget.value = "";
        }}
      />
    </>
  );
}
