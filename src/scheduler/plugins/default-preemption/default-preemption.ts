/**
 * DefaultPreemption: an unschedulable Pod replaces Pods of lower priority. It finds the node with the fewest and least important victims,
 * nominates the Pod to it, and the Pod is retried when they are deleted. No unnecessary eviction, and disruption budgets are respected if any
 * node allows it.
 *
 * Upstream behaviour: kube-scheduler plugin "DefaultPreemption" with asynchronous preemption, its default.
 */
import type { Pod } from "../../../api/generated/core/v1.ts";
import type { RetryRule } from "../../framework/cluster-event.ts";
import type { PodInfo } from "../../framework/pod-info.ts";
import type { Plugin, PluginContext, PluginFactory, PostFilterAnswer, Rejection, WhatIf } from "../../framework/plugin.ts";
import { readDefaultPreemptionArguments, type DefaultPreemptionArguments } from "./arguments.ts";
import { DisruptionBudgets } from "./disruption-budgets.ts";
import { whyNotEligible } from "./eligibility.ts";
import { Evictions } from "./evictions.ts";
import { findCandidate } from "./find-candidate.ts";
import { Rankings } from "./importance.ts";
import { contradictionMessage, refusalMessage } from "./rejection-message.ts";
import type { Candidate } from "./victims.ts";

const NAME = "DefaultPreemption";

const HELD_BACK: Rejection = { reasons: ["waiting for the preemption for this pod to be finished"], resolvable: false };

/**
 * It gates only Pods whose victims are being evicted; when one of these is deleted the Pod is reconsidered. (Upstream leaves this to the
 * plugins that rejected the Pod before.)
 */
const RETRY_ON: readonly RetryRule[] = [
  { of: "assigned-pod", changes: ["deleted"], isWorthIt: (pod, { pod: deleted }) => isFromNominatedNode(pod, deleted) },
];

export const defaultPreemption: PluginFactory<DefaultPreemptionArguments> = {
  name: NAME,
  readArguments: readDefaultPreemptionArguments,
  make: (context, args) => new DefaultPreemption(context, args),
};

class DefaultPreemption implements Plugin {
  readonly name = NAME;
  readonly retryOn = RETRY_ON;
  readonly #context: PluginContext;
  readonly #args: DefaultPreemptionArguments;
  readonly #random: PluginContext["random"];
  readonly #rankings = new Rankings();
  readonly #evictions: Evictions;

  constructor(context: PluginContext, args: DefaultPreemptionArguments) {
    this.#context = context;
    this.#args = args;
    this.#random = context.random.derive(NAME);
    this.#evictions = new Evictions(context);
  }

  preEnqueue({ metadata }: Pod): Rejection | undefined {
    return this.#evictions.isUnderWay(metadata.uid ?? "") ? HELD_BACK : undefined;
  }

  postFilter(pod: PodInfo, whatIf: WhatIf): PostFilterAnswer {
    const { cluster } = this.#context;
    const { name } = pod.pod.metadata;
    const newest = cluster.pod(pod.namespace, name);
    if (newest === undefined) return refused(`pod ${JSON.stringify(name)} not found`);
    const whyNot = whyNotEligible(newest, pod, whatIf);
    if (whyNot !== undefined) return refused(whyNot);

    const search = { pod, whatIf, base: whatIf.base(), rankings: this.#rankings, budgets: new DisruptionBudgets(cluster) };
    const found = findCandidate(search, { args: this.#args, random: this.#random });
    switch (found.is) {
      case "candidate":
        return nominated(found.candidate, this.#evictions.begin(pod, found.candidate));
      case "contradiction":
        return refused(contradictionMessage(found.nodeNames));
      case "none":
        // An earlier nomination is void: nothing can be freed for this Pod.
        return { ...refused(refusalMessage(found, whatIf.snapshot.nodes.length)), clearsNomination: true };
    }
  }
}

function nominated({ nodeName, victims }: Candidate, act: (signal: AbortSignal) => Promise<void>): PostFilterAnswer {
  return { is: "nominated", nodeName, victims: victims.length, act };
}

function refused(message: string): Extract<PostFilterAnswer, { readonly is: "none" }> {
  return { is: "none", message: `preemption: ${message}`, clearsNomination: false };
}

function isFromNominatedNode(pod: Pod, deleted: Pod): boolean {
  const nominated = pod.status?.nominatedNodeName ?? "";
  return nominated === "" || nominated === deleted.spec?.nodeName;
}
