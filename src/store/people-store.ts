/** The tables of people as the program asks them, whichever database they are in. */
import { PEOPLE_SCRIPTS } from "./people-scripts.js";
import type { Script } from "./script.js";

type Scripts = typeof PEOPLE_SCRIPTS;
export type PeopleScript = keyof Scripts;
type ResultOf<Name extends PeopleScript> = ReturnType<Scripts[Name]> extends Script<infer Result> ? Result : never;

/** Each call is one transaction, and durable once it resolves. */
export type PeopleStore = {
  readonly [Name in PeopleScript]: (...args: Parameters<Scripts[Name]>) => Promise<ResultOf<Name>>;
};

/** How a driver runs a script: by its name, since functions do not go from one thread to another. */
export type RunPeople = (name: PeopleScript, args: readonly unknown[]) => Promise<unknown>;

export function peopleStore(run: RunPeople): PeopleStore {
  const calls = Object.keys(PEOPLE_SCRIPTS).map((name) => [
    name,
    (...args: readonly unknown[]) => run(name as PeopleScript, args),
  ]);
  // The edge between names and types: each name runs the script of that name.
  return Object.fromEntries(calls) as PeopleStore;
}

/** The script with its arguments, ready to run. */
export function peopleScript(name: PeopleScript, args: readonly unknown[]): Script<unknown> {
  const script: CallableFunction = PEOPLE_SCRIPTS[name];
  // The arguments are those of the typed call on the other side.
  return Reflect.apply(script, PEOPLE_SCRIPTS, args) as Script<unknown>;
}
