/** A dialog over the page. It takes the focus, gives it back, and closes by Escape. */
import type { ReactNode } from "react";
import { Dialog as Box, Heading, Modal, ModalOverlay } from "react-aria-components";

export interface DialogParts {
  readonly title: string;
  readonly onClose: () => void;
  /** True where a click beside it must not lose what is in it. */
  readonly isFirm?: boolean;
  readonly children: ReactNode;
}

export function Dialog({ title, onClose, isFirm = false, children }: DialogParts): ReactNode {
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
