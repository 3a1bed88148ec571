/** `tollgate completion`: what a shell needs to complete commands and options, made from the commands themselves. */
import { Argument, type Command } from "commander";
import { printPart } from "./print.js";

const SHELLS = ["bash", "zsh"] as const;

export function addCompletionCommand(program: Command): void {
  program
    .command("completion")
    .description("print a script that adds command completion to a shell")
    .addArgument(new Argument("<shell>", "the shell").choices(SHELLS))
    .addHelpText("after", '\nExample:\n  eval "$(tollgate completion bash)"')
    .action((shell: string) => printPart(shell === "zsh" ? zshScript(program) : bashScript(program)));
}

/** Each way to a command, as it is typed, and what may come next there. */
function nextWords(command: Command, path = ""): readonly (readonly [string, string])[] {
  const commands = command.commands.filter((one) => one.name() !== "help");
  const words = [...commands.map((one) => one.name()), ...command.options.map(({ long }) => long ?? ""), "--help"];
  const below = commands.flatMap((one) =>
    [one.name(), ...one.aliases()].flatMap((name) => nextWords(one, path === "" ? name : `${path} ${name}`)),
  );
  return [[path, words.join(" ")], ...below];
}

function bashScript(program: Command): string {
  const cases = nextWords(program).map(([path, words]) => `    "${path}") words="${words}" ;;`);
  return `_tollgate() {
  local path="" word words=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) break ;; *) path="\${path:+$path }$word" ;; esac
  done
  while :; do
    case "$path" in
${cases.map((line) => `  ${line}`).join("\n")}
      *" "*) path="\${path% *}"; continue ;;
      *) path=""; continue ;;
    esac
    break
  done
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _tollgate tollgate
`;
}

/** Zsh takes the functions of bash where it is asked to. */
function zshScript(program: Command): string {
  return `autoload -U +X bashcompinit && bashcompinit\n${bashScript(program)}`;
}
