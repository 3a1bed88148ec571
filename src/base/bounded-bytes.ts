/** Reads the body of an answer whose length another machine decides. */

/** Rejects where it is longer than `bytesMax`. */
export async function boundedBytes({ body }: Response, bytesMax: number): Promise<Buffer<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop ends the connection.
  for await (const part of body ?? []) {
    length += part.length;
    if (length > bytesMax) throw new Error(`its answer is longer than ${bytesMax} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}
