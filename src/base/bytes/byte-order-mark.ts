/** The mark that some writers put before UTF-8. It is no part of what they wrote, and JSON has no place for it. */

const MARK = [0xef, 0xbb, 0xbf] as const;

function isByteOrderMark(byte: number): boolean {
  return byte === MARK[0] || byte === MARK[1] || byte === MARK[2];
}

const SPACE = 0x20;

/** The first byte that is neither of the mark nor a blank; undefined where there is none yet. */
export function firstSign(bytes: Buffer): number | undefined {
  for (const byte of bytes) if (byte > SPACE && !isByteOrderMark(byte)) return byte;
  return undefined;
}

/** The bytes behind the mark, where there is one. */
export function withoutByteOrderMark(bytes: Buffer): Buffer {
  const hasMark = bytes[0] === MARK[0] && bytes[1] === MARK[1] && bytes[2] === MARK[2];
  return hasMark ? bytes.subarray(MARK.length) : bytes;
}
