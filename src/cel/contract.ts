/**
 * What the users of this room compile against: validation rules of custom resources, match conditions, admission policies, authentication
 * configuration and device selectors. `compile` (compile.ts) checks an expression once; the program is evaluated for every object.
 * Nothing here throws for what users write: problems are data, with upstream's messages.
 */
import type { Declaration } from "./types/declaration.ts";
import type { CelType } from "./types/type.ts";
import type { CelError, CelResult, CelValue } from "./values/value.ts";

/** Maximum cost of one evaluation, about 0.1 s upstream. Upstream's figure, as are those below. */
export const PER_CALL_LIMIT = 1_000_000;
/** Maximum cost of all rules of a custom resource, or of all expressions of a policy binding, per request. */
export const RUNTIME_BUDGET = 10_000_000;
/** Maximum cost of all match conditions of a webhook or policy binding, per request. */
export const MATCH_CONDITIONS_BUDGET = 2_500_000;
/** Maximum bytes of a message that a messageExpression returns. */
export const MESSAGE_EXPRESSION_SIZE_MAX = 5 * 1024;
/** Requests are limited to this size; lists and strings without a limit are estimated from it. */
export const REQUEST_SIZE_MAX = 3 * 1024 * 1024;

/** What expressions are checked against. Created once per set of variables with createEnvironment (environment.ts) and reused. */
export interface EnvironmentOptions {
  /** Variables with their types. A name may contain dots ("authorizer.requestResource"). */
  readonly variables: Readonly<Record<string, CelType>>;
  /** Object types of the variables; those of their fields are found through them. */
  readonly declarations?: readonly Declaration[];
  /** The declaration that size estimates of all variables are read from, as upstream does for `self` and `oldSelf`. Absent: unknown sizes. */
  readonly sizes?: Declaration;
  /** Adds the types `Object`, `Object.<path>` and `JSONPatch`, and jsonpatch.escapeKey: mutating policies. */
  readonly patchTypes?: boolean;
  /** Adds the macro cel.bind(name, value, result): device selectors. */
  readonly bindMacro?: boolean;
}

export interface Issue {
  readonly message: string;
  /** From 1. */
  readonly line: number;
  /** From 0, in code points, as upstream counts. */
  readonly column: number;
}

export interface CompilationFailure {
  readonly ok: false;
  /** "compile": syntax and types, upstream says "compilation failed: ". "program": constants, "program instantiation failed: ". */
  readonly stage: "compile" | "program";
  readonly issues: readonly Issue[];
  /** All issues with source lines, as upstream prints them: "ERROR: <input>:1:1: undeclared reference to 'x' (in container '')\n | x\n | ^" */
  readonly message: string;
  /** At the stage "program". */
  readonly outputType?: CelType;
}

export interface CompilationSuccess {
  readonly ok: true;
  readonly program: Program;
}

export type Compilation = CompilationSuccess | CompilationFailure;

/** Costs are uint64 upstream; the largest one means unbounded. */
export interface CostEstimate {
  readonly min: bigint;
  readonly max: bigint;
}

/** A value, or a function that is called when the variable is first read in an evaluation. */
export type Binding = CelValue | (() => CelResult);

export type Bindings = Readonly<Record<string, Binding>>;

export interface EvaluationOptions {
  /** The evaluation ends with an error of kind "cost" when it costs more. Default: PER_CALL_LIMIT. */
  readonly costLimit?: number;
  /** Called between iterations of macros; true ends the evaluation. */
  readonly isInterrupted?: () => boolean;
}

export type Evaluation =
  | { readonly ok: true; readonly value: CelValue; readonly cost: number }
  /** `reason`: the expression failed, cost more than the limit, or was interrupted. */
  | { readonly ok: false; readonly reason: "error" | "cost" | "interrupted"; readonly error: CelError; readonly cost: number };

export interface Program {
  readonly source: string;
  readonly outputType: CelType;
  readonly estimatedCost: CostEstimate;
  /** Names of variables and functions that the expression refers to, as resolved by the checker: has("oldSelf"). */
  readonly references: ReadonlySet<string>;
  /** Evaluates synchronously, for callers that cannot yield: an evaluation of more than about 40 ms ends with an error of kind "cost". */
  evaluate(bindings: Bindings, options?: EvaluationOptions): Evaluation;
  /** Evaluates for one tick of the event loop at most: what takes longer is resumed after a yield. */
  start(bindings: Bindings, options?: EvaluationOptions): Evaluation | SuspendedEvaluation;
}

/** An evaluation that is not finished. It is resumed after a yield to the event loop (program/evaluation-turns.ts), for another tick. */
export interface SuspendedEvaluation {
  resume(): Evaluation | SuspendedEvaluation;
}

/** The schema that values are read by: a subset of JSON Schema with Kubernetes' extensions. That of a CRD is one. */
export interface CelSchema {
  readonly type?: string;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, CelSchema>>;
  readonly items?: CelSchema;
  readonly additionalProperties?: CelSchema | boolean;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly nullable?: boolean;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly "x-kubernetes-int-or-string"?: boolean;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
  readonly "x-kubernetes-embedded-resource"?: boolean;
  readonly "x-kubernetes-list-type"?: string;
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
}

/** One check of the authorizer library. Absent or "": not restricted. */
export interface AccessCheck {
  readonly path?: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly verb: string;
  /** Absent: the user of the request. */
  readonly serviceAccount?: { readonly namespace: string; readonly name: string };
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
}

export interface AccessCheckDecision {
  readonly allowed: boolean;
  readonly reason: string;
  /** The check itself failed. */
  readonly error?: string;
}

/**
 * What the variable `authorizer` asks; bind `authorizerValue(decide)` (library/authorizer.ts). Synchronous, like every decision of our
 * authorizers. An authorizer that cannot decide at once is asked before the evaluation, or throws, which is an error of the expression.
 */
export type DecideAccess = (check: AccessCheck) => AccessCheckDecision;
