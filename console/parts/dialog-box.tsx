/** The box of a dialog, with all that keeps the focus in it. */
import { type ReactNode, useEffect, useState } from "react";
import { Dialog as Box, Heading, Modal, ModalOverlay } from "react-aria-components";
import type { DialogParts } from "./dialog.tsx";

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

export function DialogBox({ title, onClose, isFirm = false, children }: DialogParts): ReactNode {
  // Before the dialog takes the focus.
  useState(noteOpener);
  useEffect(() => () => void setTimeout(giveBack), []);
  return (
    <ModalOverlay className="veil" isOpen isDismissable={!isFirm} onOpenChange={(isOpen) => !isOpen && onClose?.()}>
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
