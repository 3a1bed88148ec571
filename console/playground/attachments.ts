/** Pictures and files of a message, as data that goes into the request. */
import { playgroundWords } from "../copy/en-playground.ts";
import type { Part } from "./chat.ts";

export interface Attachment {
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: number;
  /** Such as data:image/png;base64,iVBO… */
  readonly dataUrl: string;
}

const PICTURES = ["image/png", "image/jpeg", "image/webp", "image/gif"];
const FILES = ["application/pdf"];
/** What the button's dialog offers. */
export const ACCEPTED = [...PICTURES, ...FILES].join(",");
export const COUNT_MAX = 4;
export const BYTES_MAX = 4 * 1_024 * 1_024;

/** The files that may be added to the ones that are there, and a sentence for each that may not. */
export async function attach(
  before: readonly Attachment[],
  files: readonly File[],
): Promise<{ readonly attachments: readonly Attachment[]; readonly problems: readonly string[] }> {
  const problems: string[] = [];
  const attachments = [...before];
  for (const file of files) {
    const problem = problemOf(file, attachments);
    if (problem === undefined) attachments.push(await readFile(file));
    else problems.push(problem);
  }
  return { attachments, problems };
}

function problemOf({ name, type, size }: File, before: readonly Attachment[]): string | undefined {
  if (!PICTURES.includes(type) && !FILES.includes(type)) return playgroundWords.wrongType(name);
  if (before.length >= COUNT_MAX) return playgroundWords.tooMany(name, COUNT_MAX);
  const bytes = before.reduce((sum, one) => sum + one.bytes, size);
  return bytes > BYTES_MAX ? playgroundWords.tooLarge(name, BYTES_MAX / 1_024 / 1_024) : undefined;
}

async function readFile(file: File): Promise<Attachment> {
  const dataUrl = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(String(reader.result)));
    reader.addEventListener("error", () => reject(reader.error ?? new Error(file.name)));
    reader.readAsDataURL(file);
  });
  return { name: file.name, mediaType: file.type, bytes: file.size, dataUrl };
}

export function isPicture({ mediaType }: Attachment): boolean {
  return PICTURES.includes(mediaType);
}

/** What a message sends: its text alone, or the attachments and the text as parts. */
export function contentOf(text: string, attachments: readonly Attachment[]): string | readonly Part[] {
  if (attachments.length === 0) return text;
  const parts = attachments.map((one): Part =>
    isPicture(one)
      ? { type: "image_url", image_url: { url: one.dataUrl } }
      : { type: "file", file: { filename: one.name, file_data: one.dataUrl } },
  );
  return text === "" ? parts : [...parts, { type: "text", text }];
}
