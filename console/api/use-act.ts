/** What a form or a dialog does, and what follows where that is still there. */
import { useMutation, type UseMutationResult } from "@tanstack/react-query";

export interface Act<Answer, Input> extends Omit<UseMutationResult<Answer, Error, Input>, "mutate" | "mutateAsync"> {
  readonly run: (asked: Input) => void;
}

/**
 * `next` closes the dialog or leads to another page. It does not run where the form is gone when the answer comes: who
 * went elsewhere, or opened the dialog anew, is left in peace. What must be done in any case belongs in `act`.
 */
export function useAct<Answer, Input = void>(
  act: (asked: Input) => Promise<Answer>,
  next: (answer: Answer) => void,
): Act<Answer, Input> {
  const { mutate, ...state } = useMutation<Answer, Error, Input>({ mutationFn: act });
  return { ...state, run: (asked) => mutate(asked, { onSuccess: next }) };
}

export interface Making<Answer, Input> extends Act<Answer, Input> {
  /** Closes the dialog; undefined while it makes something. */
  readonly close: (() => void) | undefined;
}

/** Makes what its dialog shows once, such as a secret: it stays open until that is there, or is refused. */
export function useMaking<Answer, Input = void>(
  make: (asked: Input) => Promise<Answer>,
  onClose: () => void,
): Making<Answer, Input> {
  const { mutate, ...state } = useMutation<Answer, Error, Input>({ mutationFn: make });
  return { ...state, run: mutate, close: state.isPending ? undefined : onClose };
}
