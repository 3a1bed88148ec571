/** Light, dark, or what the reader's system says; kept in this browser. */
export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const STORED_AS = "tollgate.theme";

export function chosenTheme(): Theme {
  return THEMES.find((theme) => theme === window.localStorage.getItem(STORED_AS)) ?? "system";
}

export function applyTheme(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}

export function chooseTheme(theme: Theme): void {
  window.localStorage.setItem(STORED_AS, theme);
  applyTheme(theme);
}
