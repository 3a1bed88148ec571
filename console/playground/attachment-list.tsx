/** The pictures and files of a message, each with its name. */
import type { ReactNode } from "react";
import { playgroundWords } from "../copy/en-playground.ts";
import { type Attachment, isPicture } from "./attachments.ts";

export interface AttachmentListParts {
  readonly attachments: readonly Attachment[];
  readonly onRemove?: (index: number) => void;
}

export function AttachmentList({ attachments, onRemove }: AttachmentListParts): ReactNode {
  if (attachments.length === 0) return null;
  return (
    <ul className="attachments" aria-label={playgroundWords.attachments}>
      {attachments.map((one, index) => (
        <li key={index}>
          {isPicture(one) && <img src={one.dataUrl} alt="" />}
          <span>{one.name}</span>
          {onRemove !== undefined && (
            <button
              className="button small quiet"
              type="button"
              aria-label={playgroundWords.removeFile(one.name)}
              onClick={() => onRemove(index)}
            >
              ×
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}
