/** References to variables of the environment, `${NAME}`, in the values of a settings file. */
import type { ScalarReader } from "./yaml-document.js";

/** `$${` is the two characters themselves. */
const REFERENCE = /(\$?)\$\{([^}]*)\}?/g;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Puts the values of variables in the place of their references. */
export function fromEnvironment(env: NodeJS.ProcessEnv): ScalarReader {
  return (text, { refuse }) =>
    text.replaceAll(REFERENCE, (whole: string, escape: string, name: string) => {
      if (escape !== "") return whole.slice(1);
      if (!isReference(whole, name)) {
        refuse("must name a variable as ${NAME}; write $${ for the two characters themselves");
        return "";
      }
      const value = env[name];
      if (value === undefined || value === "") refuse(`the variable ${name} is not set`);
      return value ?? "";
    });
}

/** The variables that a value takes. */
export function variablesIn(text: string): readonly string[] {
  return [...text.matchAll(REFERENCE)].flatMap(([whole, escape, name = ""]) =>
    escape === "" && isReference(whole, name) ? [name] : [],
  );
}

function isReference(whole: string, name: string): boolean {
  return NAME.test(name) && whole.endsWith("}");
}
