/**
 * What of an answer is no text, as tokens: a fair estimate, rather low than high, for an answer that never tells its
 * usage. Pure.
 */

/** Of a picture that a model made: what OpenAI bills for a square one of medium quality; Google bills 1,290. */
export const PICTURE_TOKENS = 1_056;
/** Of a picture that is shown while it is made: what OpenAI bills for each. */
export const PARTIAL_PICTURE_TOKENS = 100;

// English and JSON alike. What is encrypted is about as long as what it hides.
const BYTES_PER_TOKEN = 4;
// Twenty tokens a second, which has 24,000 samples of two bytes.
const SOUND_BYTES_PER_TOKEN = 2_400;

/** Of what only its upstream can read, in base64: a thought that is sealed. */
export function sealedTokens(base64: string): number {
  return Math.floor(bytesOf(base64) / BYTES_PER_TOKEN);
}

/** Of a sound, by how many characters of base64 it has. */
export function soundTokens(characters: number): number {
  return Math.ceil((characters * 3) / 4 / SOUND_BYTES_PER_TOKEN);
}

/** Of what nobody can read. */
export function unknownTokens(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

/** Of what a model wrote for a tool that its upstream runs, or for whatever else only the wire knows. */
export function jsonTokens(written: unknown): number {
  const text = written === undefined ? "" : JSON.stringify(written);
  return Math.ceil(text.length / BYTES_PER_TOKEN);
}

function bytesOf(base64: string): number {
  return (base64.length * 3) / 4;
}
