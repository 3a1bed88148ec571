/** An act of a form or a dialog, and what follows where that is still there. */
import { useMutation, type UseMutationResult } from "@tanstack/react-query";

export interface Act<Answer, Asked> extends Omit<UseMutationResult<Answer, Error, Asked>, "mutate" | "mutateAsync"> {
  readonly run: (asked: Asked) => void;
}

/**
 * `next` closes the dialog or leads to another page. It does not run where the form is gone when the answer comes: who
 * went elsewhere, or opened the dialog anew, is left in peace. What must be done in any case belongs into `act`.
 */
export function useAct<Answer, Asked = void>(
  act: (asked: Asked) => Promise<Answer>,
  next: (answer: Answer) => void,
): Act<Answer, Asked> {
  const { mutate, ...state } = useMutation<Answer, Error, Asked>({ mutationFn: act });
  return { ...state, run: (asked) => mutate(asked, { onSuccess: next }) };
}
