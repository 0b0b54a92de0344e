/**
 * Selects controllers by a list as upstream's --controllers: "*" is all that run by default, "name" enables one, "-name" disables one. The
 * first match decides. Deprecated names are accepted.
 */
import type { Controller } from "./controller.ts";

export interface ChosenControllers {
  readonly chosen: readonly Controller[];
  /** One sentence per unknown name. */
  readonly mistakes: readonly string[];
}

export function chooseControllers(all: readonly Controller[], wanted: readonly string[]): ChosenControllers {
  const names = new Set(all.flatMap(({ name, aliases = [] }) => [name, ...aliases]));
  const unknown = wanted.filter((text) => text !== "*" && !names.has(text.replace(/^-/, "")));
  return {
    chosen: all.filter((controller) => isChosen(controller, wanted)),
    mistakes: unknown.map((text) => `"${text}" is not in the list of known controllers: ${all.map(({ name }) => name).join(", ")}`),
  };
}

function isChosen({ name, aliases = [], onlyIfNamed }: Controller, wanted: readonly string[]): boolean {
  const mine = [name, ...aliases];
  for (const text of wanted) {
    if (mine.includes(text)) return true;
    if (text.startsWith("-") && mine.includes(text.slice(1))) return false;
  }
  return wanted.includes("*") && onlyIfNamed !== true;
}
