/** The files that a wire format is made of, the same in each by the same names, and where others belong. */

/** What a folder of a wire holds. */
interface Folder {
  /** The steps in it: each is a file, and where it is large others beside it, named `<step>-<piece>.ts`. */
  readonly steps: readonly string[];
  /** What all its steps speak of. */
  readonly words: readonly string[];
}

const WIRE: Readonly<Record<string, Folder>> = {
  // Who it is, what an upstream's refusal means and how ours is told, and its facts: names, headers, dialects.
  "": { steps: ["facts"], words: ["index", "error"] },
  // A client's JSON to the facts and the typed prompt; the typed prompt to an upstream's JSON.
  request: { steps: ["scan", "decode", "encode"], words: ["members"] },
  // An upstream's whole answer to steps; steps to a client's whole answer.
  answer: { steps: ["read", "write"], words: ["call-id", "finish", "logprobs", "proof", "usage"] },
  // The same of a stream, and what each of its events brings.
  events: { steps: ["read", "write"], words: ["kinds"] },
};

const ROOT = "src/wire/";
/** What every wire uses stands in folders of the same names, and what the wires of one maker share in theirs. */
const SHARED = /^((openai|claude)\/)?(request|answer|events|error)(\/[a-z0-9-]+)?\.ts$/;
const FOR_ALL = /^((wire|surfaces)\.ts$|json\/)/;

/** Each file of the wires that breaks the grammar, with the place where it belongs. */
export function ungrammatical(paths: readonly string[]): string[] {
  const files = paths.filter((path) => path.startsWith(ROOT)).map((path) => path.slice(ROOT.length));
  const wires = files.filter((file) => /^.+\/index\.ts$/.test(file)).map((file) => file.replace(/index\.ts$/, ""));
  return files.flatMap((file) => {
    // The innermost: a wire may hold one that leans on it, such as one of vectors.
    const wire = wires.filter((folder) => file.startsWith(folder)).sort((a, b) => b.length - a.length)[0];
    if (wire !== undefined) return oddityIn(wire, file.slice(wire.length), files);
    if (FOR_ALL.test(file) || SHARED.test(file)) return [];
    return [`${ROOT}${file} belongs in request/, answer/ or events/, or in the folder of a wire`];
  });
}

/** What is wrong with the name of one file of a wire. */
function oddityIn(wire: string, path: string, files: readonly string[]): string[] {
  const { folder = "", name = "" } = /^(?:(?<folder>.+)\/)?(?<name>[^/]+)\.ts$/.exec(path)?.groups ?? {};
  const known = WIRE[folder];
  if (known?.words.includes(name) === true) return [];
  const step = known?.steps.find((word) => name === word || name.startsWith(`${word}-`));
  if (step === undefined) return [`${ROOT}${wire}${path} belongs in ${homeOf(name)}`];
  // Whoever looks for a step opens the file of its name.
  const door = `${wire}${folder === "" ? "" : `${folder}/`}${step}.ts`;
  return files.includes(door) ? [] : [`${ROOT}${wire}${path} stands without ${ROOT}${door}`];
}

/** Where a file belongs, by what its name says. */
function homeOf(name: string): string {
  const words = name.split("-");
  for (const [folder, { steps, words: nouns }] of Object.entries(WIRE)) {
    if (nouns.includes(name)) return folder === "" ? `${name}.ts` : `${folder}/${name}.ts`;
    const step = steps.find((word) => words.includes(word));
    const others = words.filter((word) => word !== step).join("-");
    if (folder !== "" && step !== undefined) return `${folder}/${others === "" ? step : `${step}-${others}`}.ts`;
  }
  const pieces = Object.entries(WIRE).flatMap(([folder, { steps }]) =>
    steps.map((step) => (folder === "" ? `${step}-*.ts` : `${folder}/${step}-*.ts`)),
  );
  return `one of ${pieces.join(", ")}`;
}
