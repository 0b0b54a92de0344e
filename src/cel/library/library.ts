/**
 * The contract of a library: functions by name, each with overloads. The checker picks overloads by types; the program calls the one that
 * is left, or, if values are dynamic, the first whose parameters fit the values.
 */
import type { CelType } from "../types/type.ts";
import type { CelResult, CelValue } from "../values/value.ts";

export type Implementation = (args: readonly CelValue[], context: CallContext) => CelResult;

/** What functions may use besides their arguments. */
export interface CallContext {
  /** Charges work that is not counted by the cost of the call (steps of an automaton); throws if it exceeds the limit of an evaluation. */
  readonly spend: (steps: number) => void;
}

export interface Overload {
  readonly id: string;
  readonly isMember: boolean;
  /** The target of a member function is the first. */
  readonly parameters: readonly CelType[];
  readonly result: CelType;
  /** Absent: the function has one implementation for all overloads, or the program implements it. */
  readonly call?: Implementation;
}

export interface LibraryFunction {
  readonly name: string;
  readonly overloads: readonly Overload[];
  /** One implementation for all overloads; it checks the types of its arguments itself. */
  readonly call?: Implementation;
  /** Called although arguments are errors. */
  readonly nonStrict?: (args: readonly CelResult[]) => CelResult;
}

export interface Library {
  readonly functions: readonly LibraryFunction[];
  /** Names of types that expressions may use as values. */
  readonly types?: readonly CelType[];
}

export function overload(id: string, parameters: readonly CelType[], result: CelType, call?: Implementation): Overload {
  return { id, isMember: false, parameters, result, ...(call !== undefined && { call }) };
}

export function member(id: string, parameters: readonly CelType[], result: CelType, call?: Implementation): Overload {
  return { ...overload(id, parameters, result, call), isMember: true };
}

/** Functions of all libraries by name; overloads of functions that several libraries have are joined in order. */
export function joinLibraries(libraries: readonly Library[]): ReadonlyMap<string, LibraryFunction> {
  const functions = new Map<string, LibraryFunction>();
  for (const added of libraries.flatMap((library) => library.functions)) {
    const before = functions.get(added.name);
    functions.set(added.name, before === undefined ? added : { ...before, ...added, overloads: [...before.overloads, ...added.overloads] });
  }
  return functions;
}
