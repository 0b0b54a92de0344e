/**
 * Reconciliation of a replica set: ReplicaSet and ReplicationController differ in little more than their selector. It claims its Pods,
 * creates missing ones, deletes surplus ones, and reports the observed status. A crash at any step leaves nothing to undo: the next
 * reconciliation starts from the existing Pods. Not here: the deletion order (api/core/v1/pod/deletion-order.ts), event messages
 * (pod-control.ts).
 */
import { isActive, isTerminating, type AvailabilityRule } from "../../api/core/v1/pod/readiness.ts";
import { pods } from "../../api/core/v1/pod.ts";
import type { ReplicaSetStatus } from "../../api/generated/apps/v1.ts";
import type { Pod, PodTemplateSpec } from "../../api/generated/core/v1.ts";
import type { LabelSelector } from "../../api/machinery/selectors/label-selector.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import type { ResourceKind } from "../../client/client.ts";
import type { Reader } from "../../client/informer/informer.ts";
import { itsControllerOrAdopters } from "./adopters.ts";
import { claim } from "./adoption.ts";
import {
  after,
  defineController,
  onChange,
  watch,
  type Controller,
  type ControllerDefinition,
  type Outcome,
  type Pass,
} from "../runtime/controller.ts";
import { itself } from "../runtime/keys.ts";
import { isNamespaceTerminating } from "../runtime/errors.ts";
import { createPod, deletePod, messageOf, podDraft } from "./pod-control.ts";
import { planReplicas, podsPerNode, type ReplicaPlan } from "./replica-plan.ts";
import { reportStatus } from "./report-status.ts";
import { isSameStatus, nextAvailableInMs, replicaStatus } from "./replica-status.ts";
import { inTurns, slowStart } from "../runtime/concurrent-writes.ts";

/** What the kinds have in common. */
export interface ReplicaOwner extends KubeObject {
  readonly spec?: { readonly replicas?: number; readonly minReadySeconds?: number; readonly template?: PodTemplateSpec };
  readonly status?: ReplicaSetStatus;
}

export interface ReplicaRules<O extends ReplicaOwner> {
  readonly kind: ResourceKind<O>;
  /** Undefined if it is unusable: then nothing is done. Called often. */
  selectorOf(owner: O): LabelSelector | undefined;
  /** Whether its status has terminatingReplicas. */
  readonly reportsTerminating: boolean;
  /** Related Pods, its own among them: of those on one node one is deleted first. Default: none. */
  siblingPods?(owner: O, read: Reader): Iterable<Pod>;
}

type Identity = Pick<ControllerDefinition, "name" | "aliases" | "account" | "rules">;

export function replicaController<O extends ReplicaOwner>(identity: Identity, rules: ReplicaRules<O>): Controller {
  return defineController({
    ...identity,
    watches: [watch(rules.kind, itself), watch(pods, itsControllerOrAdopters(rules.kind, rules.selectorOf))],
    async reconcile(key, pass) {
      const owner = pass.read.get(rules.kind, key);
      const selector = owner && rules.selectorOf(owner);
      // If it was deleted, the garbage collector deletes its Pods.
      if (owner === undefined || selector === undefined) return onChange;
      return await keepReplicas(owner, selector, rules, pass);
    },
  });
}

async function keepReplicas<O extends ReplicaOwner>(
  owner: O,
  selector: LabelSelector,
  rules: ReplicaRules<O>,
  pass: Pass,
): Promise<Outcome> {
  const { kind, reportsTerminating } = rules;
  const terminating = reportsTerminating ? countTerminating(owner, selector, pass.read) : undefined;
  const active = await claim({ owner, ownerKind: kind, kind: pods, selector, considers: isActive, pass });

  const isTerminating = owner.metadata.deletionTimestamp !== undefined;
  const plan: ReplicaPlan = isTerminating ? { does: "nothing" } : planOf(owner, active, rules, pass);
  const failure = await act(plan, owner, pass);

  const availability: AvailabilityRule = { minReadySeconds: owner.spec?.minReadySeconds ?? 0, nowMs: pass.clock.now() };
  const reason = plan.does === "delete" ? "FailedDelete" : "FailedCreate";
  const status = replicaStatus(
    {
      active,
      terminating,
      templateLabels: owner.spec?.template?.metadata?.labels,
      availability,
      generation: owner.metadata.generation,
      failure: failure && { reason, message: messageOf(failure.error) },
    },
    owner.status,
  );
  if (!isSameStatus(status, owner.status)) await reportStatus(kind, owner, status, pass);
  if (failure !== undefined) throw failure.error;
  const nextMs = nextAvailableInMs(active, availability);
  return nextMs === undefined ? onChange : after(nextMs);
}

function countTerminating(owner: ReplicaOwner, selector: LabelSelector, read: Reader): number {
  return read.controlledBy(pods, owner).filter((pod) => isTerminating(pod) && selector.matches(pod.metadata.labels)).length;
}

function planOf<O extends ReplicaOwner>(owner: O, active: readonly Pod[], rules: ReplicaRules<O>, { read, clock }: Pass): ReplicaPlan {
  const wanted = owner.spec?.replicas ?? 0;
  if (wanted >= active.length) return planReplicas(wanted, active, { nowMs: 0 });
  const perNode = podsPerNode(rules.siblingPods?.(owner, read) ?? []);
  return planReplicas(wanted, active, { nowMs: clock.now(), neighbours: ({ spec }) => perNode.get(spec?.nodeName ?? "") ?? 0 });
}

/** Resolves with the failure, if there was one: it is reported before the retry. */
async function act(plan: ReplicaPlan, owner: ReplicaOwner, pass: Pass): Promise<{ readonly error: unknown } | undefined> {
  try {
    if (plan.does === "create") {
      const draft = podDraft(owner.spec?.template ?? {}, owner);
      await slowStart(plan.count, () => createPod(draft, owner, pass));
    } else if (plan.does === "delete") {
      await inTurns(plan.pods, (pod) => deletePod(pod, owner, pass));
    }
    return undefined;
  } catch (error) {
    return isNamespaceTerminating(error) ? undefined : { error };
  }
}
