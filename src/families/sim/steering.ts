/** Words in the user's last text that make the stand-in behave otherwise, for demonstrations and tests. */

export interface Steering {
  /** `sim:words=200`: says so many words. */
  readonly words: number | undefined;
  /** `sim:slow`: waits 50 ms before each token; `sim:slow=200` so many milliseconds. */
  readonly delayMs: number;
  /** `sim:think`: thinks aloud first. */
  readonly think: boolean;
  /** `sim:fail=503`: refuses with this status. */
  readonly failStatus: number | undefined;
}

const WORDS_MAX = 10_000;
const DELAY_MS_MAX = 5_000;

export function readSteering(text: string): Steering {
  const slow = /\bsim:slow(?:=(\d{1,5}))?\b/.exec(text);
  const words = /\bsim:words=(\d{1,6})\b/.exec(text)?.[1];
  const fail = /\bsim:fail=([45]\d\d)\b/.exec(text)?.[1];
  return {
    words: words === undefined ? undefined : Math.min(Number(words), WORDS_MAX),
    delayMs: slow === null ? 0 : Math.min(Number(slow[1] ?? 50), DELAY_MS_MAX),
    think: /\bsim:think\b/.test(text),
    failStatus: fail === undefined ? undefined : Number(fail),
  };
}
