/** Whether a node suits the volumes of a Pod, and what binding the Pod there requires of its unbound claims. Pure. */
import type { PersistentVolume, PersistentVolumeClaim } from "../../../api/generated/core/v1.ts";
import type { NodeInfo } from "../../framework/node-info.ts";
import type { Rejection } from "../../framework/plugin.ts";
import { volumeOn, type IsAccessible } from "./candidates.ts";
import type { PodVolumes, UnboundClaim, VolumePlan } from "./pod-volumes.ts";

/** Undefined: feasible, with an entry in `plans` if claims are unbound. */
export function filterByVolumes(state: PodVolumes, node: NodeInfo, isAccessible: IsAccessible): Rejection | undefined {
  const problems = boundProblems(state.bound, node, isAccessible);
  if (state.unbound.length === 0) return rejectionFor(problems);
  const found = planFor(state.unbound, node, isAccessible);
  if (typeof found === "number") return rejectionFor(problems | found);
  if (problems !== 0) return rejectionFor(problems);
  state.plans.set(node.name, found);
  return undefined;
}

/** A set of the reasons below. */
type Problems = number;

const NODE_CONFLICT = 1;
const BIND_CONFLICT = 2;
const NOT_ENOUGH_SPACE = 4;
const VOLUME_MISSING = 8;

/** Upstream's, in its order. */
const REASONS: readonly (readonly [Problems, string])[] = [
  [NODE_CONFLICT, "node(s) didn't match PersistentVolume's node affinity"],
  [BIND_CONFLICT, "node(s) didn't find available persistent volumes to bind"],
  [NOT_ENOUGH_SPACE, "node(s) did not have enough free storage"],
  [VOLUME_MISSING, "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"],
];

/** One per set of reasons: thousands of nodes are rejected with the same. Removing Pods never helps. */
const REJECTIONS: readonly (Rejection | undefined)[] = Array.from({ length: 16 }, (_, problems) => {
  const reasons = REASONS.filter(([bit]) => (problems & bit) !== 0).map(([, reason]) => reason);
  return reasons.length === 0 ? undefined : { reasons, resolvable: false };
});

function rejectionFor(problems: Problems): Rejection | undefined {
  return REJECTIONS[problems];
}

/** The first problem ends the search, as upstream. */
function boundProblems(volumes: PodVolumes["bound"], node: NodeInfo, isAccessible: IsAccessible): Problems {
  for (const volume of volumes) {
    if (volume === undefined) return VOLUME_MISSING;
    if (!isAccessible(volume, node)) return NODE_CONFLICT;
  }
  return 0;
}

/** The claims with a selected node are the first ones. */
function planFor(claims: readonly UnboundClaim[], node: NodeInfo, isAccessible: IsAccessible): VolumePlan | Problems {
  for (const { selectedNode } of claims) if (selectedNode !== undefined && selectedNode !== node.name) return BIND_CONFLICT;
  const bindings: { readonly claim: PersistentVolumeClaim; readonly volume: PersistentVolume }[] = [];
  const provisions: UnboundClaim[] = [];
  const chosen = new Set<PersistentVolume>();
  for (const unbound of claims) {
    const { claim, candidates } = unbound;
    const volume = candidates === undefined ? undefined : volumeOn(candidates, node, chosen, isAccessible);
    if (volume === undefined) {
      provisions.push(unbound);
    } else {
      chosen.add(volume);
      bindings.push({ claim, volume });
    }
  }
  const problems = provisioningProblems(provisions, node);
  return problems === 0 ? { bindings, provisions: provisions.map(({ claim }) => claim) } : problems;
}

function provisioningProblems(claims: readonly UnboundClaim[], node: NodeInfo): Problems {
  for (const { provisioning } of claims) {
    const verdict = provisioning(node);
    if (verdict !== "possible") return verdict === "impossible" ? BIND_CONFLICT : NOT_ENOUGH_SPACE;
  }
  return 0;
}
