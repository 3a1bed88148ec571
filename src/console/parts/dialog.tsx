/** A dialog over the page. It takes the focus, gives it back, and closes by Escape. */
import { type ReactNode, useEffect, useState } from "react";
import { Dialog as Box, Heading, Modal, ModalOverlay } from "react-aria-components";

export interface DialogParts {
  readonly title: string;
  readonly onClose: () => void;
  /** True where a click beside it must not lose what is in it. */
  readonly isFirm?: boolean;
  readonly children: ReactNode;
}

const DIALOGS = "[role=dialog], [role=alertdialog]";

/** What had the focus before the first of the dialogs that follow each other, such as a form and what it made. */
let opener: HTMLElement | undefined;

function noteOpener(): void {
  const { activeElement } = document;
  if (activeElement instanceof HTMLElement && activeElement !== document.body && !activeElement.closest(DIALOGS))
    opener = activeElement;
}

/** The focus was in the dialog before, which is gone: only the opener of both is a place to go back to. */
function giveBack(): void {
  if (document.activeElement === document.body && document.querySelector(DIALOGS) === null) opener?.focus();
}

export function Dialog({ title, onClose, isFirm = false, children }: DialogParts): ReactNode {
  // Before the dialog takes the focus.
  useState(noteOpener);
  useEffect(() => () => void setTimeout(giveBack), []);
  return (
    <ModalOverlay className="veil" isOpen isDismissable={!isFirm} onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Modal className="dialog">
        <Box role={isFirm ? "alertdialog" : "dialog"}>
          <Heading slot="title" level={2}>
            {title}
          </Heading>
          {children}
        </Box>
      </Modal>
    </ModalOverlay>
  );
}
