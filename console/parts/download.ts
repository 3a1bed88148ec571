/** Saves an answer as a file. The call carries the header that a plain link cannot. */
import { callHeaders, send } from "../api/client.ts";

export async function download(url: string, name: string, account: string): Promise<void> {
  const answer = await send(url, { headers: callHeaders(account) });
  save(await answer.blob(), name);
}

/** Saves a text that the page made. */
export function saveText(text: string, name: string, type: string): void {
  save(new Blob([text], { type }), name);
}

function save(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
