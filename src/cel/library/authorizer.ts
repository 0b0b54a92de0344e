/**
 * The authorizer: expressions describe an access step by step and check it. The decision comes from the caller that bound the variable, and
 * is made from memory, synchronously, like every decision of our authorizers.
 */
import type { AccessCheck, AccessCheckDecision, DecideAccess } from "../contract.ts";
import { validateDnsLabel, validateDnsSubdomain } from "../../api/machinery/names.ts";
import { textOf } from "../values/text.ts";
import { CelError, OpaqueValue, type CelResult, type CelValue } from "../values/value.ts";
import { BOOL, objectOf, STRING, type CelType } from "../types/type.ts";
import { member, type Library, type LibraryFunction } from "./library.ts";

const PREFIX = "kubernetes.authorization";
export const AUTHORIZER: CelType = objectOf(`${PREFIX}.Authorizer`);
export const RESOURCE_CHECK: CelType = objectOf(`${PREFIX}.ResourceCheck`);
const PATH_CHECK = objectOf(`${PREFIX}.PathCheck`);
const GROUP_CHECK = objectOf(`${PREFIX}.GroupCheck`);
const DECISION = objectOf(`${PREFIX}.Decision`);

/** A description of an access, as far as it was given. */
class CheckValue extends OpaqueValue {
  readonly type: CelType;
  readonly decide: DecideAccess;
  readonly check: AccessCheck;

  constructor(type: CelType, decide: DecideAccess, check: AccessCheck) {
    super();
    this.type = type;
    this.decide = decide;
    this.check = check;
  }

  /** Not comparable, as upstream. */
  equals(): CelError {
    return new CelError("no such overload");
  }

  override get hasUnitEquality(): boolean {
    return true;
  }

  with(type: CelType, change: Partial<AccessCheck>): CheckValue {
    return new CheckValue(type, this.decide, { ...this.check, ...change });
  }
}

class DecisionValue extends OpaqueValue {
  readonly type = DECISION;
  readonly decision: AccessCheckDecision;

  constructor(decision: AccessCheckDecision) {
    super();
    this.decision = decision;
  }

  equals(): CelError {
    return new CelError("no such overload");
  }

  override get hasUnitEquality(): boolean {
    return true;
  }
}

const EMPTY: AccessCheck = { group: "", resource: "", subresource: "", namespace: "", name: "", verb: "" };

/** The value of the variable `authorizer`. */
export function authorizerValue(decide: DecideAccess): CelValue {
  return new CheckValue(AUTHORIZER, decide, EMPTY);
}

/** The value of the variable `authorizer.requestResource`. */
export function resourceCheckValue(decide: DecideAccess, resource: Omit<AccessCheck, "verb">): CelValue {
  return new CheckValue(RESOURCE_CHECK, decide, { ...EMPTY, ...resource });
}

function decided({ decide, check }: CheckValue, verb: string): CelResult {
  try {
    return new DecisionValue(decide({ ...check, verb }));
  } catch (error) {
    return new CelError(error instanceof Error ? error.message : String(error));
  }
}

type Step = (check: CheckValue, text: string) => CelResult;

function step(name: string, id: string, from: CelType, to: CelType, take: Step): LibraryFunction {
  return { name, overloads: [member(id, [from, STRING], to, ([check, text]) => take(check as CheckValue, textOf(text)))] };
}

function required(text: string, name: string, take: () => CelResult): CelResult {
  return text.trim() === "" ? new CelError(`${name} must not be empty`) : take();
}

function setting(name: keyof AccessCheck, id: string): LibraryFunction {
  return step(name, id, RESOURCE_CHECK, RESOURCE_CHECK, (check, text) => check.with(RESOURCE_CHECK, { [name]: text }));
}

function serviceAccount(check: CheckValue, namespace: string, name: string): CelResult {
  if (validateDnsSubdomain(name).length > 0) return new CelError("Invalid service account name");
  if (validateDnsLabel(namespace).length > 0) return new CelError("Invalid service account namespace");
  return check.with(AUTHORIZER, { serviceAccount: { namespace, name } });
}

function answer(name: string, id: string, type: CelType, read: (decision: AccessCheckDecision) => CelResult): LibraryFunction {
  return { name, overloads: [member(id, [DECISION], type, ([value]) => read((value as DecisionValue).decision))] };
}

export const authorizer: Library = {
  functions: [
    step("path", "authorizer_path", AUTHORIZER, PATH_CHECK, (check, path) =>
      required(path, "path", () => check.with(PATH_CHECK, { path })),
    ),
    step("group", "authorizer_group", AUTHORIZER, GROUP_CHECK, (check, group) => check.with(GROUP_CHECK, { group })),
    {
      name: "serviceAccount",
      overloads: [
        member("authorizer_serviceaccount", [AUTHORIZER, STRING, STRING], AUTHORIZER, ([check, namespace, name]) =>
          serviceAccount(check as CheckValue, textOf(namespace), textOf(name)),
        ),
      ],
    },
    step("resource", "groupcheck_resource", GROUP_CHECK, RESOURCE_CHECK, (check, resource) =>
      required(resource, "resource", () => check.with(RESOURCE_CHECK, { resource })),
    ),
    setting("subresource", "resourcecheck_subresource"),
    setting("namespace", "resourcecheck_namespace"),
    setting("name", "resourcecheck_name"),
    setting("fieldSelector", "authorizer_fieldselector"),
    setting("labelSelector", "authorizer_labelselector"),
    {
      name: "check",
      overloads: [
        member("pathcheck_check", [PATH_CHECK, STRING], DECISION, ([check, verb]) => decided(check as CheckValue, textOf(verb))),
        member("resourcecheck_check", [RESOURCE_CHECK, STRING], DECISION, ([check, verb]) => decided(check as CheckValue, textOf(verb))),
      ],
    },
    answer("errored", "decision_errored", BOOL, ({ error }) => error !== undefined),
    answer("error", "decision_error", STRING, ({ error = "" }) => error),
    answer("allowed", "decision_allowed", BOOL, ({ allowed }) => allowed),
    answer("reason", "decision_reason", STRING, ({ reason }) => reason),
  ],
};
