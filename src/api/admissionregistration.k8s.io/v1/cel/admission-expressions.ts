/**
 * Compiles the expressions of webhooks and policies: the variables that they know, the types that they must have, and upstream's messages.
 * One compiler per policy, since expressions know the policy's own variables, each with the type of its expression. Compilations yield where
 * the event loop should be yielded.
 */
import { compileInStages } from "../../../../cel/compile.ts";
import type { Program } from "../../../../cel/contract.ts";
import { createEnvironment, type Environment } from "../../../../cel/environment.ts";
import { AUTHORIZER, RESOURCE_CHECK } from "../../../../cel/library/authorizer.ts";
import { declared, declareList, declareMap, declareObject, type Declaration } from "../../../../cel/types/declaration.ts";
import { BOOL, DYN, isSameType, listOf, NULL, objectOf, STRING, typeText, type CelType } from "../../../../cel/types/type.ts";
import type { Variable } from "../../../generated/admissionregistration.k8s.io/v1.ts";
import { NAMESPACE, REQUEST } from "./declarations.ts";

export type CompiledExpression =
  | { readonly ok: true; readonly program: Program }
  /** `isInternal`: the expression is valid, and the server cannot run it. */
  | { readonly ok: false; readonly message: string; readonly isInternal: boolean };

/** What an expression may return and use follows from where it is written. */
export type ExpressionPurpose =
  | "match condition"
  | "variable"
  | "validation"
  | "message"
  | "audit annotation"
  | "apply configuration"
  | "JSON patch"
  /** Type checking: any result. */
  | "check";

interface Purpose {
  /** Absent: any type. */
  readonly returns?: readonly CelType[];
  readonly hasAuthorizer: boolean;
  readonly hasPatchTypes: boolean;
}

const PLAIN = { hasAuthorizer: true, hasPatchTypes: false };

const PURPOSES: Readonly<Record<ExpressionPurpose, Purpose>> = {
  "match condition": { ...PLAIN, returns: [BOOL] },
  variable: PLAIN,
  validation: { ...PLAIN, returns: [BOOL] },
  message: { returns: [STRING], hasAuthorizer: false, hasPatchTypes: false },
  "audit annotation": { ...PLAIN, returns: [STRING, NULL] },
  "apply configuration": { hasAuthorizer: true, hasPatchTypes: true, returns: [objectOf("Object")] },
  "JSON patch": { hasAuthorizer: true, hasPatchTypes: true, returns: [listOf(objectOf("JSONPatch"))] },
  check: PLAIN,
};

export interface ExpressionsOptions {
  /** True if the variable `params` exists. */
  readonly hasParams: boolean;
  /** Those of the policy; absent or empty: `variables` does not exist. */
  readonly variables?: readonly Variable[] | undefined;
  /** Types of `object` (and `oldObject`) and `params` for type checking. Absent: they are not known, as when a request is admitted. */
  readonly object?: Declaration;
  readonly params?: Declaration | undefined;
}

export class AdmissionExpressions {
  readonly #options: ExpressionsOptions;
  readonly #environments = new Map<string, Environment>();
  /** The fields of `variables`: a variable becomes known to the expressions after it. */
  readonly #fields = new Map<string, Declaration>();
  readonly #variables: CompiledExpression[] = [];

  constructor(options: ExpressionsOptions) {
    this.#options = options;
  }

  get hasParams(): boolean {
    return this.#options.hasParams;
  }

  /** The variable of the policy, compiled after those before it. */
  *variable(index: number): Generator<void, CompiledExpression> {
    const { variables = [] } = this.#options;
    while (this.#variables.length <= index) {
      const next = this.#variables.length;
      const { name, expression } = variables[next] as Variable;
      const compiled = yield* this.#compile(expression, PURPOSES.variable);
      // Another caller may have compiled it in the meantime.
      if (next !== this.#variables.length) continue;
      this.#variables.push(compiled);
      this.#fields.set(name, compiled.ok ? declarationOf(compiled.program.outputType) : declared.dyn);
    }
    return this.#variables[index] as CompiledExpression;
  }

  /** An expression that may use all variables. */
  *compile(source: string, purpose: ExpressionPurpose): Generator<void, CompiledExpression> {
    const { variables = [] } = this.#options;
    if (variables.length > 0) yield* this.variable(variables.length - 1);
    return yield* this.#compile(source, PURPOSES[purpose]);
  }

  *#compile(source: string, { returns, hasAuthorizer, hasPatchTypes }: Purpose): Generator<void, CompiledExpression> {
    const compilation = yield* compileInStages(this.#environment({ hasAuthorizer, hasPatchTypes }), source);
    const outputType = compilation.ok ? compilation.program.outputType : compilation.outputType;
    const problem = outputType === undefined ? undefined : wrongType(outputType, returns);
    if (problem !== undefined) return { ok: false, message: problem, isInternal: false };
    if (compilation.ok) return { ok: true, program: compilation.program };
    const isInternal = compilation.stage === "program";
    const title = isInternal ? "program instantiation failed" : "compilation failed";
    return { ok: false, message: `${title}: ${compilation.message}`, isInternal };
  }

  #environment({ hasAuthorizer, hasPatchTypes }: Pick<Purpose, "hasAuthorizer" | "hasPatchTypes">): Environment {
    const key = `${hasAuthorizer}/${hasPatchTypes}`;
    let environment = this.#environments.get(key);
    if (environment === undefined) this.#environments.set(key, (environment = this.#create(hasAuthorizer, hasPatchTypes)));
    return environment;
  }

  #create(hasAuthorizer: boolean, patchTypes: boolean): Environment {
    const { hasParams, variables = [], object, params } = this.#options;
    const own = declareObject("kubernetes.variables", () => this.#fields);
    return createEnvironment({
      variables: {
        object: object?.type ?? DYN,
        oldObject: object?.type ?? DYN,
        namespaceObject: NAMESPACE.type,
        request: REQUEST.type,
        ...(hasParams ? { params: params?.type ?? DYN } : {}),
        ...(hasAuthorizer ? { authorizer: AUTHORIZER, "authorizer.requestResource": RESOURCE_CHECK } : {}),
        ...(variables.length > 0 ? { variables: own.type } : {}),
      },
      declarations: [NAMESPACE, REQUEST, own, ...[object, params].filter((one) => one !== undefined)],
      patchTypes,
    });
  }
}

/** Reported before what is wrong with the constants of the expression, as upstream does. */
function wrongType(type: CelType, allowed: readonly CelType[] | undefined): string | undefined {
  if (allowed === undefined || allowed.some((each) => isSameType(each, type))) return undefined;
  const [only, ...more] = allowed.map(typeText);
  const wanted = more.length === 0 ? only : `one of [${[only, ...more].join(" ")}]`;
  return `must evaluate to ${wanted} but got ${typeText(type)}`;
}

const SIMPLE: readonly Declaration[] = Object.values(declared);

/** As upstream: the fields of object types are not known through variables. */
function declarationOf(type: CelType): Declaration {
  const [first = DYN, second = DYN] = type.parameters;
  if (type.kind === "list") return declareList(declarationOf(first));
  if (type.kind === "map") return declareMap(declarationOf(first), declarationOf(second));
  return SIMPLE.find((simple) => isSameType(simple.type, type)) ?? declared.dyn;
}
