/**
 * Reports in the status of a ValidatingAdmissionPolicy what is wrong with the types in its expressions. A warning has no effect: the policy
 * is evaluated all the same. As upstream, a policy is checked once per generation.
 */
import { validatingAdmissionPolicies } from "../../api/admissionregistration.k8s.io/v1/validating-admission-policy.ts";
import type { ValidatingAdmissionPolicy, ValidatingAdmissionPolicySpec } from "../../api/generated/admissionregistration.k8s.io/v1.ts";
import { apiVersionOf, parseApiVersion, type GroupVersion, type GroupVersionKind } from "../../api/machinery/object.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import { EvaluationTurns } from "../../cel/program/evaluation-turns.ts";
import type { Declaration } from "../../cel/types/declaration.ts";
import type { Client } from "../../client/client.ts";
import { discoverVersion } from "../../client/discovery.ts";
import { defineController, onChange, watch, type Outcome, type Pass, type WorkKey } from "../runtime/controller.ts";
import { itself } from "../runtime/keys.ts";
import { resourcesOf, TYPES_MAX } from "./checked-types.ts";
import { declareKind, type Components } from "./declare-type.ts";
import { typeWarnings, type CheckedPolicy, type CheckedType } from "./type-warnings.ts";

/** Upstream's. */
const FIELD_MANAGER = "validatingadmissionpolicy-status";

export const validatingAdmissionPolicyStatusController = defineController({
  name: "validatingadmissionpolicy-status-controller",
  aliases: ["validatingadmissionpolicy-status"],
  account: "validatingadmissionpolicy-status-controller",
  rules: [{ apiGroups: ["admissionregistration.k8s.io"], resources: ["validatingadmissionpolicies/status"], verbs: ["patch"] }],
  watches: [watch(validatingAdmissionPolicies, itself)],
  reconcile,
});

async function reconcile({ name }: WorkKey, { read, write, clock }: Pass): Promise<Outcome> {
  const policy = read.get(validatingAdmissionPolicies, { name });
  if (policy?.spec === undefined) return onChange;
  const { generation = 0 } = policy.metadata;
  if (generation <= (policy.status?.observedGeneration ?? 0)) return onChange;
  const expressionWarnings = await new EvaluationTurns((work) => clock.soon(work)).run(
    typeWarnings(await checkedPolicy(write, policy.spec)),
  );
  const { apiVersion, kind } = policy;
  const typeChecking = expressionWarnings.length === 0 ? {} : { expressionWarnings };
  const part = {
    apiVersion,
    kind,
    metadata: { name },
    status: { observedGeneration: generation, typeChecking },
  } as ValidatingAdmissionPolicy;
  await write.apply(validatingAdmissionPolicies, part, { fieldManager: FIELD_MANAGER, force: true, subresource: "status" });
  return onChange;
}

async function checkedPolicy(client: Client, spec: ValidatingAdmissionPolicySpec): Promise<CheckedPolicy> {
  const types = new KnownTypes(client);
  const kinds = await types.kindsOf(spec);
  const declared: CheckedType[] = [];
  for (const kind of kinds) {
    const declaration = await types.declaration(kind);
    if (declaration !== undefined) declared.push({ kind, declaration });
  }
  const { apiVersion = "", kind = "" } = spec.paramKind ?? {};
  const version = parseApiVersion(apiVersion);
  const params = spec.paramKind === undefined || version === undefined ? undefined : await types.declaration({ ...version, kind });
  return { spec, types: declared, params };
}

/** Types of the server, for one reconciliation. What the server does not know is left out. */
class KnownTypes {
  readonly #client: Client;
  readonly #components = new Map<string, Promise<Components>>();

  constructor(client: Client) {
    this.#client = client;
  }

  /** Sorted by group, version and kind. */
  async kindsOf({ matchConstraints = {} }: ValidatingAdmissionPolicySpec): Promise<readonly GroupVersionKind[]> {
    const kinds = new Map<string, GroupVersionKind>();
    for (const { group, version, plural } of resourcesOf(matchConstraints)) {
      if (kinds.size >= TYPES_MAX) break;
      const served = await orNothing(discoverVersion(this.#client, apiVersionOf({ group, version })));
      const found = served?.find((one) => one.plural === plural);
      if (found !== undefined) kinds.set(`${group}/${version}/${found.kind}`, { group, version, kind: found.kind });
    }
    return [...kinds].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, kind]) => kind);
  }

  async declaration(kind: GroupVersionKind): Promise<Declaration | undefined> {
    return declareKind(await this.#componentsOf(kind), kind);
  }

  #componentsOf(version: GroupVersion): Promise<Components> {
    const path = `/openapi/v3/${version.group === "" ? "api" : "apis"}/${apiVersionOf(version)}`;
    let known = this.#components.get(path);
    if (known === undefined) this.#components.set(path, (known = this.#read(path)));
    return known;
  }

  async #read(path: string): Promise<Components> {
    const { components } = ((await orNothing(this.#client.document(path))) ?? {}) as {
      readonly components?: { readonly schemas?: Components };
    };
    return components?.schemas ?? {};
  }
}

async function orNothing<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (isReason(error, "NotFound")) return undefined;
    throw error;
  }
}
