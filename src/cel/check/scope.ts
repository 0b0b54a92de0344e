/** Variables by name: those of the environment, and those of the loops around an expression. */
import type { CelType } from "../types/type.ts";

export class Scope {
  readonly #parent: Scope | undefined;
  readonly #variables: ReadonlyMap<string, CelType>;

  constructor(variables: ReadonlyMap<string, CelType>, parent?: Scope) {
    this.#variables = variables;
    this.#parent = parent;
  }

  find(name: string): CelType | undefined {
    return this.#variables.get(name) ?? this.#parent?.find(name);
  }
}
