/** Models and parameters under a name, kept in this browser. */
import { type FormEvent, type ReactNode, useState } from "react";
import { playgroundWords } from "../copy/en-playground.ts";
import { Choice, Field } from "../parts/field.tsx";
import type { Settings } from "./parameters.ts";
import { textsOf } from "./share.ts";

const STORED_AS = "playground-presets";
const PRESETS_MAX = 50;
const NAME_CHARS_MAX = 60;

export interface Preset {
  readonly name: string;
  readonly models: readonly string[];
  readonly settings: Settings;
}

export interface PresetsParts {
  readonly models: readonly string[];
  readonly settings: Settings;
  readonly onChoose: (preset: Preset) => void;
}

export function Presets({ models, settings, onChoose }: PresetsParts): ReactNode {
  const [presets, setPresets] = useState(storedPresets);
  const [chosen, setChosen] = useState("");
  const [name, setName] = useState("");
  const keep = (next: readonly Preset[]): void => {
    window.localStorage.setItem(STORED_AS, JSON.stringify(next));
    setPresets(next);
  };
  const save = (event: FormEvent): void => {
    event.preventDefault();
    const own = name.trim();
    keep([{ name: own, models, settings }, ...presets.filter((one) => one.name !== own)].slice(0, PRESETS_MAX));
    setChosen(own);
    setName("");
  };
  const choose = (wanted: string): void => {
    setChosen(wanted);
    const preset = presets.find((one) => one.name === wanted);
    if (preset !== undefined) onChoose(preset);
  };
  return (
    <details className="more">
      <summary>{playgroundWords.presets}</summary>
      <form className="stack" onSubmit={save}>
        {presets.length > 0 && (
          <Choice
            label={playgroundWords.preset}
            value={chosen}
            onChange={({ currentTarget: { value } }) => choose(value)}
          >
            <option value="">{playgroundWords.noPreset}</option>
            {presets.map((one) => (
              <option key={one.name}>{one.name}</option>
            ))}
          </Choice>
        )}
        {chosen !== "" && (
          <span>
            <button
              className="button small"
              type="button"
              onClick={() => {
                keep(presets.filter((one) => one.name !== chosen));
                setChosen("");
              }}
            >
              {playgroundWords.deletePreset(chosen)}
            </button>
          </span>
        )}
        <Field
          label={playgroundWords.presetName}
          hint={playgroundWords.presetRule}
          value={name}
          maxLength={NAME_CHARS_MAX}
          onChange={({ currentTarget: { value } }) => setName(value)}
        />
        <span>
          <button className="button small" type="submit" disabled={name.trim() === ""}>
            {playgroundWords.savePreset}
          </button>
        </span>
      </form>
    </details>
  );
}

function storedPresets(): readonly Preset[] {
  try {
    // The edge: another version of the console may have written it.
    const stored = JSON.parse(window.localStorage.getItem(STORED_AS) ?? "[]") as readonly Preset[];
    return stored.map(({ name, models, settings }) => ({
      name: String(name),
      models: models.map(String),
      settings: textsOf(settings),
    }));
  } catch {
    return [];
  }
}
