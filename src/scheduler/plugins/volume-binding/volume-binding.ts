/**
 * VolumeBinding: a Pod is placed only where its volumes are accessible, or can be bound or provisioned. Unbound claims of classes with
 * WaitForFirstConsumer are bound with the Pod: reserve assumes the binding, preBind writes it and waits for the binder. Upstream behaviour:
 * kube-scheduler plugin "VolumeBinding". It does not score: scoring by storage capacity is an alpha feature that is off in 1.36.
 */
import type { NodeInfo } from "../../framework/node-info.ts";
import type { ClusterView, Plugin, PluginContext, PluginFactory, PreFilterAnswer } from "../../framework/plugin.ts";
import type { PodInfo } from "../../framework/pod-info.ts";
import { isAccessibleFrom } from "../../framework/volumes/volume-affinity.ts";
import { readVolumeBindingArguments, type VolumeBindingArguments } from "./arguments.ts";
import { Assumptions } from "./assumptions.ts";
import type { IsAccessible } from "./candidates.ts";
import { ClaimWaiters } from "./claim-waiters.ts";
import { volumeBindingRetryRules } from "./hints.ts";
import { readPodVolumes, type PodVolumes } from "./pod-volumes.ts";
import { Reservations } from "./reservations.ts";
import { VolumeBinder } from "./volume-binder.ts";
import { filterByVolumes } from "./volume-plan.ts";

const NAME = "VolumeBinding";

export const volumeBinding: PluginFactory<VolumeBindingArguments> = {
  name: NAME,
  readArguments: readVolumeBindingArguments,
  make: (context, args): Plugin<PodVolumes> => {
    const { storage } = context.cluster;
    const { assumptions, reservations, waiters } = shared(context);
    const binder = new VolumeBinder({ context, assumptions, waiters, timeoutMs: args.bindTimeoutSeconds * 1_000 });
    const isAccessible: IsAccessible = (volume, { node }) => isAccessibleFrom(volume, node, (name) => storage.csiNode(name));
    /** The last Pod that was filtered: a decision and its reservation are one synchronous step. */
    const last: { podUid?: string; state?: PodVolumes } = {};
    return {
      name: NAME,
      retryOn: volumeBindingRetryRules,
      preFilter(pod): PreFilterAnswer<PodVolumes> {
        const answer = readPodVolumes(pod.pod, storage, assumptions);
        last.podUid = pod.uid;
        if (answer.is === "ready") last.state = answer.state;
        else delete last.state;
        return answer;
      },
      filter: (state, _pod: PodInfo, node: NodeInfo) => filterByVolumes(state, node, isAccessible),
      reserve(pod, nodeName) {
        const plan = last.podUid === pod.uid ? last.state?.plans.get(nodeName) : undefined;
        if (plan !== undefined) reservations.add(pod.uid, nodeName, plan);
        return undefined;
      },
      unreserve: (pod) => reservations.release(pod.uid),
      preBindPreFlight: (pod) => (reservations.get(pod.uid) === undefined ? "skip" : "parallel"),
      async preBind(pod, nodeName, signal) {
        const reservation = reservations.get(pod.uid);
        if (reservation !== undefined) await binder.bind(pod, nodeName, reservation, signal);
        return undefined;
      },
      postBind: (pod) => reservations.release(pod.uid),
    };
  },
};

interface Shared {
  readonly assumptions: Assumptions;
  readonly reservations: Reservations;
  readonly waiters: ClaimWaiters;
}

const sharedOf = new WeakMap<ClusterView, Shared>();

/** Shared by all profiles of a scheduler: otherwise two of them could choose the same volume at once. */
function shared({ cluster }: PluginContext): Shared {
  const known = sharedOf.get(cluster);
  if (known !== undefined) return known;
  const assumptions = new Assumptions(cluster.storage);
  const made = { assumptions, reservations: new Reservations(assumptions), waiters: new ClaimWaiters() };
  cluster.storage.onClaimChange((claimKey) => {
    assumptions.changed(claimKey);
    made.waiters.changed(claimKey);
  });
  sharedOf.set(cluster, made);
  return made;
}
