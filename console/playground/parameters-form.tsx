/** The fields of all parameters, each with what is wrong with it. */
import type { ReactNode } from "react";
import type { ModelCapabilities } from "../../gen/console/model_service.js";
import { playgroundWords } from "../copy/en-playground.ts";
import { Choice, Field, TextField } from "../parts/field.tsx";
import { type Settings, wrongIn } from "./parameters.ts";

const NUMBERS = [
  "temperature",
  "topP",
  "outputTokensMax",
  "seed",
  "frequencyPenalty",
  "presencePenalty",
] as const satisfies readonly (keyof Settings)[];
const EFFORTS = ["minimal", "low", "medium", "high"];
const CHOICES = ["auto", "none", "required"];
/** How fields for JSON look. */
const CODE = { className: "input code-input", spellCheck: false, rows: 6 };

export interface ParametersParts {
  readonly settings: Settings;
  readonly capabilities: ModelCapabilities | undefined;
  readonly onChange: (settings: Settings) => void;
}

export function ParametersForm({ settings, capabilities, onChange }: ParametersParts): ReactNode {
  const wrong = wrongIn(settings);
  const efforts = capabilities === undefined || capabilities.efforts.length === 0 ? EFFORTS : capabilities.efforts;
  const set = (name: keyof Settings): Pick<SetParts, "value" | "wrong" | "onChange"> => ({
    value: settings[name],
    wrong: wrong[name],
    onChange: ({ currentTarget: { value } }) => onChange({ ...settings, [name]: value }),
  });
  return (
    <>
      <TextField label={playgroundWords.system} hint={playgroundWords.systemRule} rows={2} {...set("system")} />
      <details className="more">
        <summary>{playgroundWords.parameters}</summary>
        <div className="stack">
          <div className="pairs">
            {NUMBERS.map((name) => (
              <Field key={name} label={playgroundWords[name]} inputMode="decimal" {...set(name)} />
            ))}
          </div>
          <Options label={playgroundWords.effort} options={efforts} {...set("effort")} />
          <TextField label={playgroundWords.stopTexts} hint={playgroundWords.stopRule} rows={2} {...set("stop")} />
        </div>
      </details>
      <details className="more">
        <summary>{playgroundWords.toolsAndSchema}</summary>
        <div className="stack">
          <TextField label={playgroundWords.tools} hint={playgroundWords.toolsRule} {...CODE} {...set("tools")} />
          <span>
            <button
              className="button small"
              type="button"
              onClick={() => onChange({ ...settings, tools: playgroundWords.exampleTool })}
            >
              {playgroundWords.insertTool}
            </button>
          </span>
          <Options label={playgroundWords.toolChoice} options={CHOICES} {...set("toolChoice")} />
          <TextField label={playgroundWords.schema} hint={playgroundWords.schemaRule} {...CODE} {...set("schema")} />
        </div>
      </details>
    </>
  );
}

interface SetParts {
  readonly label: string;
  readonly options: readonly string[];
  readonly value: string;
  readonly wrong: string | undefined;
  readonly onChange: (event: { readonly currentTarget: { readonly value: string } }) => void;
}

function Options({ options, ...rest }: SetParts): ReactNode {
  return (
    <Choice {...rest}>
      <option value="">{playgroundWords.ofModel}</option>
      {options.map((option) => (
        <option key={option}>{option}</option>
      ))}
    </Choice>
  );
}
